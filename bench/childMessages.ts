import type { ChildProcess } from 'node:child_process'
import process from 'node:process'

/**
 * Resolves to the next message of a child process.
 *
 * @throws when the child ends first: it would be waited for without end.
 */
export function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const forget = () => {
      child.off('message', onMessage)
      child.off('disconnect', onEnd)
      child.off('error', onEnd)
    }
    const onMessage = (message: unknown) => {
      forget()
      resolve(message)
    }
    const onEnd = (cause?: Error | undefined) => {
      forget()
      reject(new Error('A child process ended without an answer.', { cause }))
    }
    child.once('message', onMessage)
    // Comes after every message, which `exit` may overtake.
    child.once('disconnect', onEnd)
    child.once('error', onEnd)
  })
}

/**
 * Sends the last message to the parent process and then disconnects.
 *
 * A long message is written in parts: one that disconnects before the last part
 * is written loses it, and the parent waits for a message that never comes.
 */
export async function sendLast(message: object): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error) =>
      error ? reject(error) : resolve(),
    )
  })
  process.disconnect()
}
