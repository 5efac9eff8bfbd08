import { capturePayment, type SignedPayment, waitForOutcome } from 'countersign'
import { devContracts } from 'countersign/devchain'
import { type Hex, serializeErc6492Signature } from 'viem'
import { getBlock } from 'viem/actions'
import { delegate, type Family } from './families.js'
import {
  chain,
  circle22,
  client,
  freshPayer,
  merchant,
  pay,
  payFromWallet,
  stranger,
  unit,
  wallet,
} from './rehearsalDesk.js'

async function payDelegated(
  contract: { deployedBytecode: Hex },
  family = circle22,
): Promise<SignedPayment> {
  const payer = await freshPayer(family)
  await delegate(chain, payer.address, contract)
  return pay({ family, payer })
}

const wrap = (payment: SignedPayment): SignedPayment => ({
  ...payment,
  signature: serializeErc6492Signature({
    address: merchant,
    data: '0x01',
    signature: payment.signature,
  }),
})

async function capture(payment: SignedPayment): Promise<SignedPayment> {
  const hash = await capturePayment(wallet, { payment })
  await waitForOutcome(client, { payment, hash })
  return payment
}

/** Payments of all kinds; each payer has one only. */
export async function allKinds(family: Family): Promise<SignedPayment[]> {
  const { timestamp } = await getBlock(client)
  const blocked = await freshPayer(family)
  const kinds = [
    await pay({ family }),
    await pay({ family, message: { validBefore: timestamp } }),
    await pay({ family, message: { validAfter: timestamp + 500n } }),
    await capture(await pay({ family })),
    await pay({ family, message: { value: 11n * unit } }),
    await pay({ family, payer: await freshPayer(family, 0n) }),
    await pay({ family, signer: stranger }),
    await pay({ family, domain: { name: 'Coin' } }),
    await pay({ family, domain: { chainId: 8453 } }),
    wrap(await pay({ family, signer: stranger })),
    wrap(await pay({ family })),
    await payFromWallet('strictWallet', { family }),
    await payFromWallet('strictWallet', { family, signer: stranger }),
    await payFromWallet('permissiveWallet', { family }),
    await payFromWallet('lyingWallet', { family }),
    await payDelegated(devContracts.strictDelegate, family),
    await payDelegated(devContracts.permissiveDelegate, family),
    await pay({ family, payer: blocked }),
    await pay({ family, message: { validAfter: 2n ** 47n } }),
    await pay({ family }),
  ]
  await family.block?.(blocked.address, true)
  return kinds
}
