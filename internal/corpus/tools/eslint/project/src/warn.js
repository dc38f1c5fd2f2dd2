export function run(log) {
  console.log(log)
}
