/** Formats Unix seconds as ISO 8601 in UTC, without fractions of a second. */
export function formatTime(seconds: bigint): string {
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z')
}
