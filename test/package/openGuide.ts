import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A block of a page, or a command in its text, in the order printed. */
type Printed = {
  /** Of a block its file, or else its language; of a command the command. */
  name: string
  text: string
  line: number
}

/** What a page prints for its reader to do, taken one after the other. */
export type Guide = {
  /** Takes what is printed next, which has to be this, and gives its text. */
  take(name: string): string
  /**
   * Takes what is printed next without doing it. The reason tells readers of
   * the test why it cannot be done here, or where else it is.
   */
  leave(name: string, reason: string): void
  /** Throws unless everything was taken. */
  end(): void
}

/** Opens a page of a folder. */
export function openGuide(folder: string, page: string): Guide {
  const printed = readPrinted(readFileSync(join(folder, page), 'utf8'))
  let taken = 0
  const expectNext = (name: string | undefined): string => {
    const next = printed[taken]
    if (next?.name === name) taken++
    else
      throw new Error(
        `${page}:${next?.line ?? 'end'} prints ${next?.name ?? 'nothing'}, where the test does ${name ?? 'nothing'}.`,
      )
    return next?.text ?? ''
  }
  return {
    take: expectNext,
    leave: expectNext,
    end: () => void expectNext(undefined),
  }
}

/** The first line of a block that is a file. */
const fileName = /^(?:\/\/|<!--) ([\w./-]+\.\w+)(?: -->)?$/

/** A command inside a sentence. */
const command = /`((?:\w+="[^"]*" )?(?:npm|npx) [^`]+)`/g

/** Reads blocks and commands. A block of a shell is a command each line. */
function readPrinted(page: string): Printed[] {
  const printed: Printed[] = []
  let block: { language: string; lines: string[] } | undefined
  for (const [index, text] of page.split('\n').entries()) {
    const line = index + 1
    const fence = /^\s*(?:```|~~~)(.*)$/.exec(text)
    if (fence && block) {
      printed.push(...readBlock(block.language, block.lines, line))
      block = undefined
    } else if (fence) block = { language: fence[1] ?? '', lines: [] }
    else if (block) block.lines.push(text)
    else
      for (const [, name = ''] of text.matchAll(command))
        printed.push({ name, text: name, line })
  }
  if (block) throw new Error('The last block of the page has no end.')
  return printed
}

function readBlock(
  language: string,
  lines: readonly string[],
  end: number,
): Printed[] {
  const line = end - lines.length
  if (language === 'sh')
    return lines.map((text, index) => {
      const name = text.replace(/\s+#.*$/, '')
      return { name, text: name, line: line + index }
    })
  const [first = '', ...rest] = lines
  const file = fileName.exec(first)?.[1]
  const text = file ? rest : lines
  return [{ name: file ?? language, text: `${text.join('\n')}\n`, line }]
}
