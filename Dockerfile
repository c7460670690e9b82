# The image of fairway-scheduler: one static binary and the certificates of
# public authorities, nothing else; there is no shell to break into.
#
#   docker build --build-arg VERSION="$(git describe --tags --always)" -t fairway-scheduler .

FROM golang:1.26 AS build
WORKDIR /src

# Modules first: sources change often, dependencies seldom.
COPY go.mod go.sum ./
RUN go mod download

COPY Makefile ./
COPY cmd ./cmd
COPY pkg ./pkg
ARG VERSION=unknown
RUN make build COMMANDS=fairway-scheduler VERSION="${VERSION}" BUILD_FLAGS=-trimpath

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/bin/fairway-scheduler /fairway-scheduler
COPY LICENSE /LICENSE
USER 65532:65532
ENTRYPOINT ["/fairway-scheduler"]
