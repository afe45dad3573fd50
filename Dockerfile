# The command alone, static, in an image without anything else:
#   docker build -t roundonce . && docker run --rm roundonce why
#   docker run --rm -v "$PWD:/work" roundonce check kernel.ptx
FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
COPY . .
# A target that is named keeps the flag from what runs while the command is built.
RUN host=$(rustc --print host-tuple) && \
    RUSTFLAGS="-C target-feature=+crt-static" cargo build --locked --profile dist -p roundonce-cli --features parquet --target "$host" && \
    cp "target/$host/dist/roundonce" .

FROM scratch
COPY --from=build /source/LICENSE-MIT /source/LICENSE-APACHE /
COPY --from=build /source/roundonce /bin/
WORKDIR /work
ENTRYPOINT ["/bin/roundonce"]
