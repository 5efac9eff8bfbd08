import type { Address, Hex } from 'viem'

/** Deployed code that is known by its hash. */
export type KnownCode = {
  /** In lower case. */
  address: Address
  /** Hash of the deployed code, with the words of `domain` set to zero. */
  codeHash: Hex
  /**
   * Set if the constructor wrote the EIP-712 domain of its chain into the code.
   * The numbers are the bytes at which the two words begin.
   */
  domain?: { name: string; chainIdAt: number; separatorAt: number } | undefined
  /** True for code that stands in for the real one on development chains. */
  isStandIn?: true | undefined
}

/** Delegates that can run a batch in which single calls may fail. */
export type DelegateName = 'metamask' | 'calibur'

/** A delegate that this library knows. */
export type KnownDelegate = KnownCode & {
  name: DelegateName
  version: string
  /**
   * The contract that can act for accounts that signed a delegation to others.
   * Its owner can pause it; batches of the account itself then still work.
   */
  manager?: KnownCode | undefined
}

/** MetaMask's `EIP7702StatelessDeleGator` 1.3.0 and its `DelegationManager`. */
export const metamaskDelegate: KnownDelegate & { manager: KnownCode } = {
  name: 'metamask',
  version: '1.3.0',
  address: '0x63c0c19a282a1b52b07dd5a65b58948a07dae32b',
  codeHash:
    '0x29e80da8dce2a5184fbbe98d907f0b4c01c9ad4f40c485bb038c82f28db5425a',
  domain: {
    name: 'EIP7702StatelessDeleGator',
    chainIdAt: 5801,
    separatorAt: 5843,
  },
  manager: {
    address: '0xdb9b1e94b5b69df7e401ddbede43491141047db3',
    codeHash:
      '0xa14af61a12e4e62a7e7a4de36f9b03cfdd35602777767bb2193572e11a19a8de',
    domain: { name: 'DelegationManager', chainIdAt: 6767, separatorAt: 6809 },
  },
}

/**
 * Uniswap's Calibur 1.0.0. No package has its code, so the hash is that of the
 * stand-in of development chains.
 */
export const caliburDelegate: KnownDelegate = {
  name: 'calibur',
  version: '1.0.0',
  address: '0x000000009b1d0af20d8c6d0a44e162d11f9b8f00',
  codeHash:
    '0x6bb9caa82d4d7359931797c400e0d479e88be69cdf17b320653c224b904aad2e',
  isStandIn: true,
}

export const knownDelegates: readonly KnownDelegate[] = [
  metamaskDelegate,
  caliburDelegate,
]

/** Multicall3, with the same code at the same address on nearly every chain. */
export const multicall: KnownCode = {
  address: '0xca11bde05977b3631167028862be2a173976ca11',
  codeHash:
    '0xd5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891',
}

/**
 * The contracts of MetaMask that limit what a signed delegation allows. They
 * have the same code on every chain.
 */
export const enforcers: Record<
  'targets' | 'methods' | 'nonce' | 'timestamp',
  KnownCode
> = {
  /** Allows calls of some contracts only. */
  targets: {
    address: '0x7f20f61b1f09b08d970938f6fa563634d65c4eeb',
    codeHash:
      '0x70e128c26997cf42e91e128d24465d23f86e569fec044d304cefc93044f46600',
  },
  /** Allows some functions only. */
  methods: {
    address: '0x2c21fd0cb9dc8445cb3fb0dc5e7bb0aca01842b5',
    codeHash:
      '0xe249051b4b4239edfbefe4b8c6cae88c4bb5316b4abadc2c8c2519a022be215a',
  },
  /** Ends all delegations that name an older number of their account. */
  nonce: {
    address: '0xde4f2fac4b3d87a1d9953ca5fc09fca7f366254f',
    codeHash:
      '0x7bbb80e3cd46e4a1cee4c2cbf712f6de0aa06f9bce616c39e1358210ee023ad8',
  },
  /** Allows calls until a time. */
  timestamp: {
    address: '0x1046bb45c8d673d4ea75321280db34899413c069',
    codeHash:
      '0x1da353833766081398664c131a50988f6f7190d6a1a974f497607b974705900c',
  },
}

/**
 * Allows one call only, with exactly these bytes. Permissions of capture keys do
 * not rely on it, but the call that a sponsor makes to revoke one does.
 */
export const exactCallEnforcer: KnownCode = {
  address: '0x99f2e9bf15ce5ec84685604836f71ab835dbbded',
  codeHash:
    '0x22eef3e73397f97581331630b2783433d7290d6af7cea46214762283c2c15ab2',
}
