import { type ReactNode, useState } from 'react'
import { Button } from '../ui/Button.js'
import { Card } from '../ui/Card.js'
import { Notice } from '../ui/Notice.js'
import type { BooksFormat, MerchantApi } from './merchantApi.js'
import { saveFile } from './saveFile.js'
import { wordsOf } from './wordsOf.js'

const files: readonly { format: BooksFormat; title: string; name: string }[] = [
  { format: 'csv', title: 'CSV', name: 'books.csv' },
  { format: 'jsonLines', title: 'JSON lines', name: 'books.jsonl' },
  { format: 'hledger', title: 'hledger journal', name: 'books.journal' },
]

/** Downloads the books as files for spreadsheets and accounting programs. */
export function LedgerCard({ api }: { api: MerchantApi }): ReactNode {
  const [busy, setBusy] = useState<BooksFormat>()
  const [problem, setProblem] = useState<string>()
  async function download({ format, name }: (typeof files)[number]) {
    setBusy(format)
    try {
      saveFile(await api.ledger(format), name)
      setProblem(undefined)
    } catch (error) {
      setProblem(wordsOf(error))
    }
    setBusy(undefined)
  }
  return (
    <Card title="Download the books">
      <div className="stack">
        <p className="muted small">
          Every payment, transfer and gas fee, with your balance before and
          after. The rows add up to your balance on the chain.
        </p>
        <div className="row">
          {files.map((file) => (
            <Button
              key={file.format}
              size="small"
              busy={busy === file.format}
              onClick={() => void download(file)}
            >
              {file.title}
            </Button>
          ))}
        </div>
        {problem && <Notice tone="bad" title={problem} />}
      </div>
    </Card>
  )
}
