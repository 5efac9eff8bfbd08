import type { ReadClient } from 'countersign/reads'
import type { Account, Address, Chain, Client, Hex, Transport } from 'viem'

/** What a runtime is told; JSON. */
export type Setting = {
  http: string
  webSocket: string
  chainId: number
  token: Address
  /** Of three accounts with ether; the payer has tokens too. */
  keys: { payer: Hex; merchant: Hex; seller: Hex }
}

export type AccountClient = Client<Transport, Chain, Account>

/** A chain and the parties of a payment on it. */
export type Stage = Setting & {
  reader: ReadClient
  payer: AccountClient
  merchant: AccountClient
  seller: AccountClient
}

export type StagedCase = {
  /** A rule, as a sentence without its full stop. */
  name: string
  run: (stage: Stage) => void | Promise<void>
}

/** Puts a handler behind a server, and says how to ask it. */
export type Mount = (
  handler: (request: Request) => Promise<Response>,
) => Promise<{
  origin: string
  send(request: Request): Promise<Response>
  stop(): Promise<unknown>
}>

/** What a host of the suite brings along. */
export type Host = {
  /** Cases of its own, played first. */
  cases?: readonly StagedCase[] | undefined
  mount: Mount
}

/** What became of one case; JSON. */
export type CaseResult = {
  name: string
  /** Absent when all was as it should be. */
  problem?: string | undefined
}

/** What came of the suite in a runtime. */
export type Report = {
  /** What the runtime calls itself, such as `Node 20.20.2`. */
  runtime: string
  results: readonly CaseResult[]
}
