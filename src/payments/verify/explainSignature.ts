import { type Address, type Hex, keccak256, recoverAddress } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { devChainIds } from '../../core/clock.js'
import { parsePayment } from '../../core/fields.js'
import { hashDomain, hashStruct } from '../../core/hashPayment.js'
import { hashText } from '../../core/hashText.js'
import { knownTokens } from '../../core/knownTokens.js'
import { tokenSignature } from '../../core/signature.js'
import type {
  Payment,
  PrimaryType,
  SignedPayment,
  TokenDomain,
} from '../../core/types.js'

/** One way in which the message that was signed differs from the payment. */
export type SignatureDifference = {
  field:
    | 'primaryType'
    | 'name'
    | 'version'
    | 'chainId'
    | 'verifyingContract'
    /**
     * The wallet got no `EIP712Domain` type and so signed for an empty domain.
     */
    | 'EIP712Domain'
    /** The wallet signed the hash as a text message, with `personal_sign`. */
    | 'prefix'
    /**
     * The signature is the payer's, but in a form that tokens refuse: another
     * `v`, a high `s`, EIP-2098 or ERC-6492.
     */
    | 'form'
  signed: unknown
  presented: unknown
}

/** Which message the payer signed, if one of the tried ones fits. */
export type SignatureExplanation =
  /**
   * The payer signed a message with these differences. If there are none, the
   * signature is valid.
   */
  | { found: true; differences: readonly SignatureDifference[] }
  /**
   * The payer signed none of the `tried` messages. `signer` is the address that
   * the signature recovers to, if the payment is the signed message.
   */
  | { found: false; signer: Address | undefined; tried: number }

/** The payment whose signature {@link explainSignature} explains. */
export type ExplainSignatureParameters = {
  payment: SignedPayment
}

const members: MembersOf<ExplainSignatureParameters> = {
  payment: true,
}

/**
 * Explains why a signature is not the payer's. Tries common mistakes, alone and
 * combined, until the signature recovers to `from`. For debugging: takes up to
 * a second of CPU time and uses no node.
 *
 * Cannot explain signatures of contract wallets: no address can be recovered.
 *
 * @throws {@link InvalidFieldError} when the payment is malformed.
 *
 * @example
 * ```ts
 * import { explainSignature, type SignedPayment } from 'countersign'
 *
 * async function why(payment: SignedPayment) {
 *   const explanation = await explainSignature({ payment })
 *   return explanation.found
 *     ? explanation.differences.map(({ field }) => field)
 *     : `signed by ${explanation.signer}`
 * }
 * ```
 */
export async function explainSignature(
  parameters: ExplainSignatureParameters,
): Promise<SignatureExplanation> {
  checkMembers(parameters, members)
  const { signature: given, ...unsigned } = Object(Object(parameters).payment)
  const payment: Payment = parsePayment(unsigned)
  const signature = tokenSignature(given)
  if (signature?.length !== 132)
    return { found: false, signer: undefined, tried: 0 }

  const size = `${given.length / 2 - 1} bytes`
  const form: SignatureDifference[] =
    signature === given.toLowerCase()
      ? []
      : [{ field: 'form', signed: 'another form', presented: size }]
  let signer: Address | undefined
  let tried = 0
  for (const { digest, differences } of hypotheses(payment)) {
    const recovered = await recover(digest, signature)
    if (tried++ === 0) signer = recovered
    if (recovered === payment.message.from)
      return { found: true, differences: [...differences, ...form] }
  }
  return { found: false, signer, tried }
}

type Hypothesis = { digest: Hex; differences: readonly SignatureDifference[] }

/**
 * Yields messages that the payer may have signed by mistake, the most likely
 * first.
 */
function* hypotheses(payment: Payment): Generator<Hypothesis> {
  const otherType: PrimaryType =
    payment.primaryType === 'ReceiveWithAuthorization'
      ? 'TransferWithAuthorization'
      : 'ReceiveWithAuthorization'
  const types = [payment.primaryType, otherType]
  for (const domain of domains(payment.domain))
    for (const primaryType of types)
      yield hypothesis(payment, { ...payment, primaryType, domain })

  for (const primaryType of types) {
    const struct = hashStruct({ ...payment, primaryType })
    const type = difference('primaryType', primaryType, payment.primaryType)
    yield {
      digest: digestOf(emptySeparator(), struct),
      differences: [...type, ...difference('EIP712Domain', 'none', 'all')],
    }
    yield {
      digest: keccak256(
        `${personalPrefix}${digestOf(hashDomain(payment.domain), struct).slice(2)}`,
      ),
      differences: [...type, ...difference('prefix', 'personal_sign', 'none')],
    }
  }
}

/** Yields domains with one changed member, then the domains of known tokens. */
function* domains(domain: TokenDomain): Generator<TokenDomain> {
  yield domain
  const names = new Set([...knownTokens.map(({ name }) => name), 'USDC.e'])
  const versions = ['1', '2']
  for (const name of names) yield { ...domain, name }
  for (const version of versions) yield { ...domain, version }
  const chainIds = [
    ...knownTokens.map(({ chainId }) => chainId),
    ...devChainIds,
  ]
  for (const chainId of chainIds) yield { ...domain, chainId }
  for (const { address: verifyingContract } of knownTokens)
    yield { ...domain, verifyingContract }
  for (const name of names)
    for (const version of versions) yield { ...domain, name, version }
  for (const { name, version, chainId, address } of knownTokens) {
    yield { name, version, chainId, verifyingContract: address }
    yield { ...domain, chainId, verifyingContract: address }
    yield { ...domain, name, chainId }
  }
}

function hypothesis(presented: Payment, signed: Payment): Hypothesis {
  const members = ['name', 'version', 'chainId', 'verifyingContract'] as const
  return {
    digest: digestOf(hashDomain(signed.domain), hashStruct(signed)),
    differences: [
      ...difference('primaryType', signed.primaryType, presented.primaryType),
      ...members.flatMap((member) =>
        difference(member, signed.domain[member], presented.domain[member]),
      ),
    ],
  }
}

function difference(
  field: SignatureDifference['field'],
  signed: unknown,
  presented: unknown,
): SignatureDifference[] {
  return signed === presented ? [] : [{ field, signed, presented }]
}

/** Returns the domain separator of wallets that got no `EIP712Domain` type. */
function emptySeparator(): Hex {
  return keccak256(hashText('EIP712Domain()'))
}

/**
 * `\x19Ethereum Signed Message:\n32`: `personal_sign` puts it before the hash.
 */
const personalPrefix =
  '0x19457468657265756d205369676e6564204d6573736167653a0a3332'

function digestOf(separator: Hex, struct: Hex): Hex {
  return keccak256(`0x1901${separator.slice(2)}${struct.slice(2)}`)
}

async function recover(
  hash: Hex,
  signature: Hex,
): Promise<Address | undefined> {
  try {
    const address = await recoverAddress({ hash, signature })
    return address.toLowerCase() as Address
  } catch {
    return undefined
  }
}
