/** A moment of today as a clock shows it, in Unix seconds. */
export function formatClock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
}
