import type { Client } from 'viem'
import type { TrustedDelegate } from './types.js'

type Proof = { asked: Promise<boolean>; since: number; isProven?: boolean }

const proofs = /* @__PURE__ */ new WeakMap<Client, Map<string, Proof>>()

/** Milliseconds after which a contract that was not proven is read again. */
const patience = 60_000

/**
 * Proves a contract once for each client, by asking for its code. After a
 * failure asks again, and after a minute if the code was another.
 */
export function proveOnce(
  client: Client,
  { address, codeHash }: TrustedDelegate,
  ask: () => Promise<boolean>,
): Promise<boolean> {
  const known = proofs.get(client) ?? new Map<string, Proof>()
  proofs.set(client, known)
  const key = `${address} ${codeHash}`
  const last = known.get(key)
  const now = performance.now()
  const isOld = last?.isProven === false && now - last.since >= patience
  if (last && !isOld) return last.asked
  const proof: Proof = { asked: ask(), since: now }
  known.set(key, proof)
  proof.asked.then(
    (isProven) => {
      proof.isProven = isProven
    },
    () => known.delete(key),
  )
  return proof.asked
}
