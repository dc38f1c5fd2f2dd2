# Switchback as a static binary in an empty image, run by an unprivileged user.
#
#   docker build --build-arg VERSION=v1.2.3 -t switchback .
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=""
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /switchback ./cmd/switchback
# An empty image has no writable directories: /data holds the data, /tmp what a delivery unpacks.
RUN install -d -m 0700 /root-of-image/data && install -d -m 1777 /root-of-image/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /switchback /switchback
COPY --from=build --chown=65532:65532 /root-of-image/ /
ENV SWITCHBACK_DATA=/data
VOLUME /data
USER 65532:65532
EXPOSE 8080
# The image has neither a shell nor curl, so the program checks itself.
HEALTHCHECK --interval=15s --timeout=6s --start-period=30s --retries=3 CMD ["/switchback", "healthcheck"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/switchback"]
CMD ["serve"]
