const digits =
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The sources of which a source map has at least one place. */
export function usedSources(map: string): string[] {
  const { sources, mappings } = JSON.parse(map)
  const used = new Set<string>()
  let source = 0
  for (const place of mappings.split(/[,;]/)) {
    const [, step] = readNumbers(place)
    if (step === undefined) continue
    source += step
    used.add(sources[source])
  }
  return [...used]
}

/** Numbers as source maps have them: base 64, the sign in the lowest bit. */
function readNumbers(place: string): number[] {
  const numbers: number[] = []
  let [sum, shift] = [0, 0]
  for (const letter of place) {
    const digit = digits.indexOf(letter)
    sum += (digit & 31) << shift
    shift += 5
    if (digit & 32) continue
    numbers.push(sum & 1 ? -(sum >> 1) : sum >> 1)
    ;[sum, shift] = [0, 0]
  }
  return numbers
}
