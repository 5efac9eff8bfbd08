import type { Address, Client } from 'viem'

type Proof = { asked: Promise<boolean>; since: number; isProven?: boolean }

const proofs = /* @__PURE__ */ new WeakMap<Client, Map<Address, Proof>>()

/** Milliseconds after which a contract that was not proven is read again. */
const patience = 60_000

/**
 * Proves a contract once for each client, by asking for its code. After a
 * failure asks again, and after a minute if the code was another.
 */
export function proveOnce(
  client: Client,
  address: Address,
  ask: () => Promise<boolean>,
): Promise<boolean> {
  const known = proofs.get(client) ?? new Map<Address, Proof>()
  proofs.set(client, known)
  const last = known.get(address)
  const now = performance.now()
  const isOld = last?.isProven === false && now - last.since >= patience
  if (last && !isOld) return last.asked
  const proof: Proof = { asked: ask(), since: now }
  known.set(address, proof)
  proof.asked.then(
    (isProven) => {
      proof.isProven = isProven
    },
    () => known.delete(address),
  )
  return proof.asked
}
