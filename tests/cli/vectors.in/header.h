/* Operands, result and flags. */
