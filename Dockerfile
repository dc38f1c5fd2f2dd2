# The command line as a static binary in an empty image, as a user without rights.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /switchback ./cmd/switchback

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /switchback /switchback
USER 65532:65532
ENTRYPOINT ["/switchback"]
