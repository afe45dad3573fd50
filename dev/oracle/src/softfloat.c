/* One call: set the modes, compute, read the flags. SoftFloat keeps modes and flags in variables; THREAD_LOCAL makes
   them one set a thread, and writing all of them before each operation leaves no state to guard. */
#include <stdint.h>
#include "platform.h"
#include "softfloat.h"

uint64_t roundonce_softfloat(
    uint8_t width, uint8_t operation, uint8_t rounding, uint8_t tininess, uint64_t a, uint64_t b, uint64_t c,
    uint8_t *flags )
{
    uint64_t z = 0;
    softfloat_roundingMode = rounding;
    softfloat_detectTininess = tininess;
    softfloat_exceptionFlags = 0;
#define WIDTH( bits ) { \
        union { float##bits##_t f; uint##bits##_t u; } x, y, w, r; \
        x.u = (uint##bits##_t) a; y.u = (uint##bits##_t) b; w.u = (uint##bits##_t) c; r.u = 0; \
        switch ( operation ) { \
          case 0: r.f = f##bits##_mulAdd( x.f, y.f, w.f ); break; \
          case 1: r.f = f##bits##_add( x.f, w.f ); break; \
          case 2: r.f = f##bits##_sub( x.f, w.f ); break; \
          case 3: r.f = f##bits##_mul( x.f, y.f ); break; \
        } \
        z = r.u; \
    }
    switch ( width ) {
      case 16: WIDTH( 16 ) break;
      case 32: WIDTH( 32 ) break;
      case 64: WIDTH( 64 ) break;
    }
    *flags = softfloat_exceptionFlags;
    return z;
}
