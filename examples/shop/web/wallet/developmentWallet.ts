import { formatAmount } from 'countersign'
import type { Hex } from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import { groupAmount, shortHex } from '../../../../src/pages/ui/format.js'
import { token } from '../../token.js'
import { askShop } from '../askShop.js'
import { askUser, type Question } from './askUser.js'

/** A wallet as EIP-1193 has it, as far as the shop uses one. */
export type WalletProvider = {
  request(args: { method: string; params?: unknown }): Promise<unknown>
}

/** An error with a code of EIP-1193. */
class WalletFault extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * A wallet in the page: real signatures, worthless money. It signs EIP-3009
 * payments and cancellations of the shop's token, which it can say in words, and
 * nothing else.
 */
export const developmentWallet: WalletProvider = {
  request: async ({ method, params }) => {
    const account = openAccount()
    switch (method) {
      case 'eth_chainId':
        return `0x${token.chainId.toString(16)}`
      case 'eth_accounts':
        return [account.address]
      case 'eth_requestAccounts':
        await askShop('/shop/faucet', { address: account.address })
        return [account.address]
      case 'eth_signTypedData_v4': {
        const [, text] = params as readonly [Hex, string]
        return sign(account, JSON.parse(text))
      }
      default:
        throw new WalletFault(4200, `This wallet has no ${method}.`)
    }
  },
}

/** The account of this tab, which is gone with it. */
function openAccount(): PrivateKeyAccount {
  const name = 'development-wallet'
  const key = (sessionStorage.getItem(name) ?? generatePrivateKey()) as Hex
  sessionStorage.setItem(name, key)
  return privateKeyToAccount(key)
}

type TypedData = Parameters<PrivateKeyAccount['signTypedData']>[0]

async function sign(
  account: PrivateKeyAccount,
  typedData: TypedData,
): Promise<Hex> {
  if (!(await askUser(questionOf(typedData))))
    throw new WalletFault(4001, 'The user declined.')
  return account.signTypedData(typedData)
}

/** Says in words what a signature means. */
function questionOf({ domain, message, primaryType }: TypedData): Question {
  const { chainId, verifyingContract = '' } = Object(domain)
  if (
    Number(chainId) !== token.chainId ||
    verifyingContract.toLowerCase() !== token.token
  )
    throw new WalletFault(4200, 'This wallet signs for the shop’s token only.')
  const { to, value, validBefore, authorizer } = Object(message)
  if (primaryType === 'CancelAuthorization')
    return {
      title: 'Sign this cancellation?',
      text: 'Once it is on the chain, nobody can collect the payment.',
      facts: [['Account', shortHex(authorizer)]],
      approve: 'Sign cancellation',
    }
  if (primaryType !== 'ReceiveWithAuthorization')
    throw new WalletFault(4200, 'This wallet signs EIP-3009 payments only.')
  const amount = groupAmount(formatAmount(BigInt(value), token.decimals))
  return {
    title: 'Sign this payment?',
    text: 'The recipient can collect exactly this amount from you, once.',
    facts: [
      ['Amount', `${amount} ${token.symbol}`],
      ['To', to],
      ['Until', new Date(Number(validBefore) * 1_000).toLocaleTimeString('en')],
    ],
    approve: 'Sign payment',
  }
}
