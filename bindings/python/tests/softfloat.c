/* dev/oracle's one call of SoftFloat, over arrays. */
#include <stddef.h>
#include <stdint.h>

uint64_t roundonce_softfloat(
    uint8_t width, uint8_t operation, uint8_t rounding, uint8_t tininess, uint64_t a, uint64_t b, uint64_t c,
    uint8_t *flags );

void roundonce_softfloat_many(
    uint8_t width, uint8_t operation, uint8_t rounding, size_t count, const uint64_t *a, const uint64_t *b,
    const uint64_t *c, uint64_t *z )
{
    uint8_t flags;
    for ( size_t i = 0; i < count; ++i ) z[i] = roundonce_softfloat( width, operation, rounding, 0, a[i], b[i], c[i], &flags );
}
