import { formatAmount } from 'countersign'
import { type ReactNode, useEffect, useState } from 'react'
import { Select } from '../../../../src/pages/ui/Field.js'
import { groupAmount, shortHex } from '../../../../src/pages/ui/format.js'
import { getTokenBalance } from '../api/chain.js'
import { terms } from '../api/terms.js'
import { networks } from './networks.js'
import type { WalletDialogProps } from './WalletDialogs.js'
import { WalletFrame } from './WalletFrame.js'
import { type AccountName, accountOf } from './walletMemory.js'

const names: readonly (readonly [AccountName, string])[] = [
  ['everyday', 'Everyday account'],
  ['empty', 'Empty account'],
]

/** Which account the page may see, and on which chain. */
export function ConnectDialog({
  question,
  memory,
  funded,
}: WalletDialogProps<'connect'>): ReactNode {
  const [account, setAccount] = useState(memory.selected)
  const [chainId, setChainId] = useState(memory.chainId)
  return (
    <WalletFrame
      title="Connect to this page?"
      approve="Connect"
      onApprove={() => question.answer({ account, chainId })}
      onReject={() => question.answer(undefined)}
    >
      <p>
        The page will see the account’s address and may ask it to sign. It
        cannot move money by itself. These accounts live in this tab only.
      </p>
      <fieldset className="wallet-accounts">
        <legend>Account</legend>
        {names.map(([name, label]) => (
          <label key={name} className="wallet-account">
            <input
              type="radio"
              name="account"
              checked={account === name}
              onChange={() => setAccount(name)}
            />
            <span>
              <strong>{label}</strong>
              <span className="mono muted small">
                {shortHex(accountOf(memory, name).address)}
              </span>
            </span>
            <Balance
              address={accountOf(memory, name).address}
              after={name === 'everyday' ? funded : undefined}
            />
          </label>
        ))}
      </fieldset>
      <Select
        label="Network"
        hint="Whichever network you choose, this wallet signs for the development chain only."
        value={String(chainId)}
        onChange={({ target }) => setChainId(Number(target.value))}
        options={networks.map((network) => ({
          value: String(network.chainId),
          label: `${network.name} (${network.chainId})`,
        }))}
      />
    </WalletFrame>
  )
}

function Balance({
  address,
  after,
}: {
  address: `0x${string}`
  after: Promise<unknown> | undefined
}): ReactNode {
  const [words, setWords] = useState('…')
  useEffect(() => {
    let isShown = true
    const read = async () => {
      await after
      const { token, decimals, symbol } = terms
      const balance = await getTokenBalance(token, address)
      const amount = groupAmount(formatAmount(balance, decimals))
      if (isShown) setWords(`${amount} ${symbol}`)
    }
    read().catch(() => isShown && setWords('unknown'))
    return () => {
      isShown = false
    }
  }, [address, after])
  return <span className="wallet-balance numbers">{words}</span>
}
