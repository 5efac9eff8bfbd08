/** What an error says of itself, or that there was none. */
export async function failureOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    const { name, details } = Object(error)
    return { name, details }
  }
  return 'nothing was thrown'
}
