/**
 * Resolves with the result of the work, or with that of `late` once the time is
 * over. The work goes on, but its result is dropped.
 */
export function inTime<value>(
  work: Promise<value>,
  milliseconds: number,
  late: () => value,
): Promise<value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    }, milliseconds)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
