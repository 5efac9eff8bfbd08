import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from '../ui/Button.js'
import { Card } from '../ui/Card.js'
import { Field } from '../ui/Field.js'
import { MerchantShell } from './MerchantShell.js'
import { createMerchantApi } from './merchantApi.js'
import { useShop } from './shop.js'
import { refusedKey, wordsOf } from './wordsOf.js'

/** Asks for the key, which the terminal prints as part of the link. */
export function SignInPage({
  onKey,
  wasRefused,
}: {
  onKey: (key: string) => void
  /** True if the server refused the last key or session. */
  wasRefused: boolean
}): ReactNode {
  const { root } = useShop()
  const [key, setKey] = useState('')
  const [error, setError] = useState(wasRefused ? refusedKey : undefined)
  const [busy, setBusy] = useState(false)
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    const given = key.trim()
    if (!given) return setError('Enter the key.')
    setBusy(true)
    setError(undefined)
    try {
      await createMerchantApi({ root, key: given }).list({ limit: 1 })
      onKey(given)
    } catch (failure) {
      setError(wordsOf(failure))
      setBusy(false)
    }
  }
  return (
    <MerchantShell title="Sign in">
      <div className="narrow">
        <Card>
          <form className="stack" onSubmit={submit} noValidate>
            <div>
              <h1>Merchant sign-in</h1>
              <p className="muted">
                Open the link that you were given, or enter the key at its end.
              </p>
            </div>
            <Field
              label="Merchant key"
              type="password"
              autoComplete="off"
              spellCheck={false}
              value={key}
              error={error}
              onChange={({ target }) => setKey(target.value)}
            />
            <Button type="submit" variant="primary" busy={busy} wide>
              Sign in
            </Button>
          </form>
        </Card>
      </div>
    </MerchantShell>
  )
}
