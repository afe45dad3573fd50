fma.rn.f32 in CUDA C++: equal
  __fmaf_rn
      float d = __fmaf_rn(a, b, c);
    flags: -ftz=false
  asm fma.rn.f32
      float d;
      asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    needs: PTX 2.0, sm_20
