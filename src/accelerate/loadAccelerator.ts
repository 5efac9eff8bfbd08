import type { Address, Hex, PrivateKeyAccount } from 'viem'
import type { Keccak256 } from '../core/keccak.js'
import { loadPeer, notLoaded } from '../core/peers.js'
import { AcceleratorError } from './errors.js'
import { createFastAccount } from './fastAccount.js'
import { type Curve, recoverSigner } from './signature.js'

/** A hash and its signature, to find out who signed. */
type RecoverAddressParameters = {
  /** The hash that was signed, for example from `hashPayment`. */
  hash: Hex
  /** 65 bytes: `r`, `s` and a `v` of 27, 28, 0 or 1. */
  signature: Hex
}

/** Signing, recovery of signers and Keccak-256, by WebAssembly. */
export type Accelerator = {
  /**
   * Creates viem's local account of a private key. Its signatures equal those
   * of viem's `privateKeyToAccount`, and it signs several times as fast. It
   * ignores viem's `setSignEntropy`.
   *
   * @throws {@link InvalidFieldError} when the key is malformed.
   */
  fastAccount(privateKey: Hex): PrivateKeyAccount
  /**
   * Recovers the address that signed a digest, in lower case. Returns
   * `undefined` if the signature recovers no address.
   *
   * @throws {@link InvalidFieldError} when `hash` is not 32 bytes.
   */
  recoverAddress(parameters: RecoverAddressParameters): Address | undefined
  /**
   * Keccak-256 by WebAssembly. Pass this function to `createOrders` and
   * `hashPayment`.
   */
  keccak256: Keccak256
}

/**
 * Loads WebAssembly code of the optional peer `ox` that signs, recovers and
 * hashes. Installs nothing globally: pass on the returned functions. The second
 * call reuses the compiled code.
 *
 * @throws {@link AcceleratorError} when `ox` is not installed, or the runtime
 * forbids WebAssembly, as a page without `wasm-unsafe-eval` does.
 *
 * @example
 * ```ts
 * import { loadAccelerator } from 'countersign/accelerate'
 * import { createWalletClient, type Hex, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * export async function openWallet(privateKey: Hex) {
 *   const { fastAccount } = await loadAccelerator()
 *   return createWalletClient({
 *     account: fastAccount(privateKey),
 *     chain: base,
 *     transport: http(),
 *   })
 * }
 * ```
 */
export async function loadAccelerator(): Promise<Accelerator> {
  const [curveModule, hashModule] = await importOx()
  const [curve, { keccak256 }] = await Promise.all([
    curveModule.engine(),
    hashModule.engine(),
  ]).catch((cause: unknown) => {
    throw new AcceleratorError(
      "cannot compile WebAssembly here: a page has to allow 'wasm-unsafe-eval' in its Content-Security-Policy",
      cause,
    )
  })
  const tools = { curve: curve satisfies Curve, keccak256 }
  return {
    fastAccount: (privateKey) => createFastAccount(tools, privateKey),
    recoverAddress: (parameters) => recoverSigner(tools, parameters),
    keccak256,
  }
}

function importOx() {
  const ox = { name: 'ox', from: '1.8.0' }
  const fail = (problem: string, cause: unknown) =>
    new AcceleratorError(problem, cause)
  return Promise.all([
    loadPeer(ox, import('ox/wasm/Secp256k1').catch(notLoaded), fail),
    loadPeer(ox, import('ox/wasm/Hash').catch(notLoaded), fail),
  ])
}
