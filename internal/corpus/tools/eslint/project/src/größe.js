export const größe = 1
fehlt()
