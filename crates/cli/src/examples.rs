//! What stands under `--help`, of all and of each verb. Every line is run by `tests/help.rs`.

pub(crate) const ALL: &str = "\
Examples:
  roundonce why
  roundonce eval fma.rn.f32 0x3f800001 0x3f800001 0xbf800002
  roundonce check saxpy.ptx --determinacy";

pub(crate) const EVAL: &str = "\
Examples:
  roundonce eval fma.rn.f32 0x3f800001 0x3f800001 0xbf800002
  roundonce eval mad.f32@sm_13 1.1 1.1 -1.21
  echo 'FFMA.FTZ.RZ 1.5 0x1p-149 2' | roundonce eval -
  roundonce eval fma.rn.f32 --in x.npy y.npy 1.0 --out d.npy";

pub(crate) const EXPLAIN: &str = "\
Examples:
  roundonce explain fma.rn.f32 0x3f800001 0x3f800001 0xbf800002
  roundonce explain FFMA.FMZ.SAT 0 inf 1
  roundonce explain PTX0022";

pub(crate) const BITS: &str = "\
Examples:
  roundonce bits 0.1f
  roundonce bits 0x3f800001
  roundonce bits +7F.000001";

pub(crate) const WHY: &str = "\
Examples:
  roundonce why
  roundonce why 'a*b + c' a=0x3f800001 b=0x3f800001 c=0xbf800002 --saw 0x28800000
  roundonce why 'x*y' x=x.npy y=y.npy --saw d.npy
  roundonce why saxpy.ptx --arg 0=4 --arg 1=1.1 --arg 2=x.npy --arg 3=y.npy --saw 3=d.npy";

pub(crate) const DIFF: &str = "\
Examples:
  roundonce diff 'a*b + c' 'fma(a, b, c)'
  roundonce diff fma.rn.f32 FFMA.FTZ
  roundonce diff d.npy y.npy
  roundonce diff saxpy.ptx saxpy.ptx --arg 0=4 --arg 1=1.1 --arg 2=x.npy --arg 3=y.npy";

pub(crate) const TRANSLATE: &str = "\
Examples:
  roundonce translate fma.rz.ftz.f32 --to sass
  roundonce translate fma.rn.sat.f32 --to spirv
  roundonce translate fma.rp.f32 --to glsl
  roundonce translate 'fmaf(a,b,c)*d' --from c --to cuda";

pub(crate) const FORMS: &str = "\
Examples:
  roundonce forms
  roundonce forms bf16 --format json";

pub(crate) const RUN: &str = "\
Examples:
  roundonce run saxpy.ptx --arg 0=4 --arg 1=1.1 --arg 2=x.npy --arg 3=y.npy --out 3=d.npy
  roundonce run saxpy.ptx --arg 0=4 --arg 1=1.1 --arg 2=x.npy --arg 3=y.npy --contract report
  roundonce run - --smoke < saxpy.ptx
  roundonce run axpy.sass --reg R1=x.npy --reg R3=y.npy --reg P0=1 --cbank 3:0x140=2.0";

pub(crate) const CHECK: &str = "\
Examples:
  roundonce check saxpy.ptx axpy.sass
  roundonce check saxpy.ptx --determinacy --format sarif
  roundonce check - < saxpy.ptx";

pub(crate) const LSP: &str = "\
Examples:
  roundonce lsp < session.rpc
  roundonce lsp --target-env vulkan1.3 < session.rpc";

pub(crate) const ASM: &str = "\
Examples:
  roundonce asm axpy.sass -o axpy.bin
  echo 'FFMA.FTZ R0, R1, R2, R3' | roundonce asm --lang sass -
  roundonce asm scale.spvasm -o scale.spv";

pub(crate) const DISASM: &str = "\
Examples:
  echo 0x5980018000270100 | roundonce disasm --lang sass --style nvdisasm -
  roundonce disasm plain.cubin --words
  roundonce disasm - < plain.cubin";

pub(crate) const VECTORS: &str = "\
Examples:
  roundonce vectors gen fma.rn.f32 FFMA.FTZ --count 1000 -o vectors.csv
  roundonce vectors gen fma.rn.f32 --count 100 | roundonce vectors verify -
  echo '3F800001 3F800001 BF800002' | roundonce vectors run f32_mulAdd";

pub(crate) const VECTORS_GEN: &str = "\
Examples:
  roundonce vectors gen fma.rn.f32 FFMA.FTZ --count 1000 -o vectors.csv
  roundonce vectors gen f16_mulAdd_rm --count 10 --as testfloat";

pub(crate) const VECTORS_VERIFY: &str = "\
Examples:
  roundonce vectors verify vectors.csv
  roundonce vectors gen f32_mul --as testfloat | roundonce vectors verify --instruction mul.rz.f32 -";

pub(crate) const VECTORS_RUN: &str = "\
Examples:
  echo '3F800001 3F800001 BF800002' | roundonce vectors run f32_mulAdd
  echo '3F80 3F80 3F000000' | roundonce vectors run fma.rz.f32.bf16";

pub(crate) const SWEEP: &str = "\
Examples:
  roundonce sweep fma.rn.f32 0x3f800000..0x3f8000ff 1.5 0x00000001 --out records
  roundonce sweep fma.rn.f32 0x3f800000..0x3f8000ff 1.5 1 --against FFMA --out others";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  roundonce completions bash > roundonce.bash
  roundonce completions zsh > _roundonce";
