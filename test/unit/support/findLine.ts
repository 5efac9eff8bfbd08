/** Reads lines up to the first that is like `wanted`, and returns that one. */
export async function findLine(
  lines: AsyncIterable<string>,
  wanted: RegExp,
): Promise<string> {
  const read: string[] = []
  for await (const line of lines) {
    read.push(line)
    if (wanted.test(line)) return line
  }
  throw new Error(`No line is like ${wanted}: ${read.join('\n')}`)
}
