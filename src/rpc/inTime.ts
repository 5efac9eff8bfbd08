/**
 * What the work gives, or what `late` gives or throws once the time is over.
 * The work goes on; what it gives later is dropped.
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
