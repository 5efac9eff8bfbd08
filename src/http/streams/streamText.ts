/**
 * Fewest characters to send at once. Sending each short line by itself would be
 * slow.
 */
const pieceSize = 16_384

/**
 * Makes the body of a response from lines of text. Asks for lines only as fast
 * as the client reads. If the generator throws, the connection breaks off, so
 * that the client does not take the part it got for the whole file.
 *
 * @param onCancel called when the reader leaves early.
 */
export function streamText(
  lines: AsyncGenerator<string>,
  onCancel: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        let text = ''
        while (text.length < pieceSize) {
          const { done, value } = await lines.next()
          if (done) {
            if (text) controller.enqueue(encoder.encode(text))
            controller.close()
            return
          }
          text += value
        }
        controller.enqueue(encoder.encode(text))
      },
      cancel: async () => {
        onCancel()
        await lines.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
