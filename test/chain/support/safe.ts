import { createRequire } from 'node:module'
import { type Cancellation, hashPayment, type Payment } from 'countersign'
import { type DevChain, deployDevContract } from 'countersign/devchain'
import {
  type Abi,
  type Address,
  concatHex,
  encodeFunctionData,
  getCreate2Address,
  type Hex,
  hashTypedData,
  hexToBigInt,
  keccak256,
  numberToHex,
  pad,
  zeroAddress,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount } from 'viem/accounts'
import {
  readContract,
  sendTransactionSync,
  writeContractSync,
} from 'viem/actions'
import { serializeErc6492Signature } from 'viem/utils'

type Artifact = { abi: Abi; bytecode: Hex }

const artifact = (path: string): Artifact =>
  createRequire(import.meta.url)(
    `@safe-global/safe-smart-account/build/artifacts/contracts/${path}.json`,
  )

const safeArtifact = artifact('Safe.sol/Safe')
const factoryArtifact = artifact(
  'proxies/SafeProxyFactory.sol/SafeProxyFactory',
)
const handlerArtifact = artifact(
  'handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler',
)

/** A multi-signature wallet as its npm package ships it. */
export type Safe = {
  address: Address
  owners: readonly PrivateKeyAccount[]
  /** What its owners sign for a payment or a cancellation. */
  messageHash(payment: Payment | Cancellation): Hex
  deploy(): Promise<void>
  /** ERC-6492: the signature together with the way to deploy the wallet. */
  wrap(signature: Hex): Hex
}

export type SafeMaker = (
  owners: readonly PrivateKeyAccount[],
  threshold: number,
) => Promise<Safe>

/** Deploys the contracts all Safes of a chain share. */
export async function deploySafeContracts(chain: DevChain): Promise<SafeMaker> {
  const { public: client, relayer } = chain.clients
  const deploy = (contract: Artifact) => deployDevContract(chain, { contract })
  const singleton = await deploy(safeArtifact)
  const handler = await deploy(handlerArtifact)
  const factory = await deploy(factoryArtifact)
  const creationCode = (await readContract(client, {
    address: factory,
    abi: factoryArtifact.abi,
    functionName: 'proxyCreationCode',
  })) as Hex

  return async (owners, threshold) => {
    const initializer = encodeFunctionData({
      abi: safeArtifact.abi,
      functionName: 'setup',
      args: [
        owners.map(({ address }) => address),
        BigInt(threshold),
        zeroAddress,
        '0x',
        handler,
        zeroAddress,
        0n,
        zeroAddress,
      ],
    })
    const saltNonce = hexToBigInt(generatePrivateKey())
    const create = encodeFunctionData({
      abi: factoryArtifact.abi,
      functionName: 'createProxyWithNonce',
      args: [singleton, initializer, saltNonce],
    })
    const address = getCreate2Address({
      from: factory,
      salt: keccak256(
        concatHex([
          keccak256(initializer),
          numberToHex(saltNonce, { size: 32 }),
        ]),
      ),
      bytecode: concatHex([creationCode, pad(singleton)]),
    })
    return {
      address: address.toLowerCase() as Address,
      owners,
      messageHash: (payment) =>
        hashTypedData({
          domain: { chainId: chain.chain.id, verifyingContract: address },
          types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
          primaryType: 'SafeMessage',
          message: { message: hashPayment(payment) },
        }),
      deploy: async () => {
        await sendTransactionSync(relayer, { to: factory, data: create })
        const code = await client.getCode({ address })
        if (!code) throw new Error('the Safe is not where it should be')
      },
      wrap: (signature) =>
        serializeErc6492Signature({
          address: factory,
          data: create,
          signature,
        }),
    }
  }
}

/** The parts in the order of their owners' addresses, as a Safe wants them. */
export function joinSignatures(
  parts: readonly (readonly [PrivateKeyAccount, Hex])[],
): Hex {
  const sorted = [...parts].sort(([a], [b]) =>
    a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1,
  )
  return concatHex(sorted.map(([, signature]) => signature))
}

/** Plain signatures of some owners over the Safe's message. */
export async function signAsSafe(
  safe: Safe,
  payment: Payment | Cancellation,
  signers: readonly PrivateKeyAccount[] = safe.owners,
): Promise<Hex> {
  const hash = safe.messageHash(payment)
  return joinSignatures(
    await Promise.all(
      signers.map(
        async (owner) => [owner, await owner.sign({ hash })] as const,
      ),
    ),
  )
}

/** An owner's `eth_sign` over the Safe's message: `v` 31 or 32. */
export async function ethSignAsSafe(
  safe: Safe,
  payment: Payment | Cancellation,
  owner: PrivateKeyAccount,
): Promise<Hex> {
  const raw = safe.messageHash(payment)
  const signature = await owner.signMessage({ message: { raw } })
  const v = Number(`0x${signature.slice(130)}`) + 4
  return concatHex([`0x${signature.slice(2, 130)}`, numberToHex(v)])
}

/** The signature that stands for a hash its owner approved on chain. */
export function approvalOf(owner: PrivateKeyAccount): Hex {
  return concatHex([pad(owner.address), pad('0x'), '0x01'])
}

/** Has an owner approve the Safe's message on chain. */
export async function approveMessage(
  chain: DevChain,
  safe: Safe,
  payment: Payment | Cancellation,
  owner: PrivateKeyAccount,
): Promise<void> {
  const { test: node, relayer } = chain.clients
  await node.setBalance({ address: owner.address, value: 10n ** 18n })
  const receipt = await writeContractSync(relayer, {
    account: owner,
    address: safe.address,
    abi: safeArtifact.abi,
    functionName: 'approveHash',
    args: [safe.messageHash(payment)],
  })
  if (receipt.status !== 'success') throw new Error('not approved')
}

/** Has a Safe of one owner make a call; gives the hash of the transaction. */
export async function executeAsSafe(
  chain: DevChain,
  safe: Safe,
  call: { to: Address; data: Hex },
): Promise<Hex> {
  const { public: client, relayer } = chain.clients
  const nonce = (await readContract(client, {
    address: safe.address,
    abi: safeArtifact.abi,
    functionName: 'nonce',
  })) as bigint
  const args = [call.to, 0n, call.data, 0, 0n, 0n, 0n, zeroAddress, zeroAddress]
  const hash = (await readContract(client, {
    address: safe.address,
    abi: safeArtifact.abi,
    functionName: 'getTransactionHash',
    args: [...args, nonce],
  })) as Hex
  const [owner] = safe.owners
  if (!owner) throw new Error('a Safe needs an owner')
  const receipt = await writeContractSync(relayer, {
    address: safe.address,
    abi: safeArtifact.abi,
    functionName: 'execTransaction',
    args: [...args, await owner.sign({ hash })],
  })
  return receipt.transactionHash
}
