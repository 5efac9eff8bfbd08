/** A time after all others that every store can count. */
export const endOfTime = 2n ** 62n
