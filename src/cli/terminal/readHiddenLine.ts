import process from 'node:process'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/**
 * Reads one line from the keyboard without showing it or keeping it in a
 * history. Ends the process when the user presses Ctrl-C.
 */
export function readHiddenLine(): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output,
    terminal: true,
    historySize: 0,
  })
  return new Promise((resolve) => {
    let text = ''
    lines.once('line', (line) => {
      text = line
      lines.close()
    })
    lines.once('SIGINT', () => {
      lines.close()
      process.exit(130)
    })
    lines.once('close', () => resolve(text))
  })
}
