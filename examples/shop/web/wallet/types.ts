export type RequestArguments = { method: string; params?: unknown }

/** A wallet as EIP-1193 has it. */
export type WalletProvider = {
  request(args: RequestArguments): Promise<unknown>
  on?(event: string, listener: (value: never) => void): unknown
  removeListener?(event: string, listener: (value: never) => void): unknown
}

/** What a wallet says of itself, by EIP-6963. */
type WalletInfo = {
  uuid: string
  name: string
  /** A data URL. */
  icon: string
  /** Names the wallet over visits, such as `io.wallet`. */
  rdns: string
}

export type AnnouncedWallet = { info: WalletInfo; provider: WalletProvider }
