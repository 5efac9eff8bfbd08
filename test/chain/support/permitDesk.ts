import { signPayment } from 'countersign'
import {
  buildPermitPayment,
  permitCheckout,
  permitCheckoutAddress,
  permitCheckoutDeployment,
  type SignedPermitPayment,
} from 'countersign/checkout'
import { deployDevContract } from 'countersign/devchain'
import {
  type Address,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  parseAbi,
} from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import { readContract, simulateContract } from 'viem/actions'
import { permitCheckoutAbi } from '../../../src/checkout/contracts/PermitCheckout.generated.js'
import {
  chain,
  chainTime,
  client,
  merchant,
  newAddress,
  reasonOf,
  send,
} from './checkoutDesk.js'
import { compileSolidity } from './compileSolidity.js'

const source = `
import "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

contract PermitToken is ERC20Permit {
    constructor() ERC20("Permit", "P") ERC20Permit("Permit") {}
    function mint(address to, uint256 value) external { _mint(to, value); }
    function decimals() public pure override returns (uint8) { return 6; }
}

contract DaiLike {
    string public constant name = "Dai Stablecoin";
    string public constant version = "1";
    bytes32 public constant PERMIT_TYPEHASH = 0xea2aa0a1be11a07ed86d755c93467f4f82362b452371d1ba94d1715123511acb;
    mapping(address => uint256) public nonces;
    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
            keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this)
        ));
    }
    function permit(address, address, uint256, uint256, bool, uint8, bytes32, bytes32) external {}
}`

const compiled = compileSolidity(source)

export async function deployToken(name: 'PermitToken' | 'DaiLike') {
  const contract = compiled[name]
  if (!contract) throw new Error(`${name} was not compiled.`)
  return deployDevContract(chain, { contract })
}

/** OpenZeppelin's token with permits, and the merchant's checkout contract. */
export const token = await deployToken('PermitToken')
export const recipient = merchant.account.address
export const spender = permitCheckoutAddress({ recipient })
await send(newAddress(), permitCheckoutDeployment({ recipient }))

export const tokenAbi = parseAbi([
  'function mint(address to, uint256 value)',
  'function nonces(address owner) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function transfer(address to, uint256 value)',
  'function approve(address spender, uint256 value)',
])

/** A payer with 100 tokens that nobody used before. */
export async function permitPayer(
  value = 100_000_000n,
): Promise<PrivateKeyAccount> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await mintPermit(payer.address, value)
  return payer
}

async function mintPermit(to: Address, value: bigint): Promise<void> {
  const data = encodeFunctionData({
    abi: tokenAbi,
    functionName: 'mint',
    args: [to, value],
  })
  await send(newAddress(), { to: token, data })
}

export const domain = {
  name: 'Permit',
  version: '1',
  chainId: 31337,
  verifyingContract: token,
}

type Fields = Partial<Parameters<typeof buildPermitPayment>[0]>

/** A signed permit of at most 50 tokens to the merchant. */
export async function signedPermit(
  payer: PrivateKeyAccount,
  fields: Fields = {},
): Promise<SignedPermitPayment> {
  const payment = buildPermitPayment({
    domain,
    from: payer.address,
    to: recipient,
    atMost: '50.00',
    nonce: await nonceOf(payer.address),
    now: await chainTime(),
    ...fields,
  })
  return signPayment(
    { account: payer, request: client.request },
    {
      payment,
      kind: permitCheckout,
      expect: {
        chainId: payment.domain.chainId,
        token: payment.domain.verifyingContract,
        to: payment.checkout.recipient,
        operator: payment.checkout.operator,
        atMost: fields.atMost ?? '50.00',
      },
      now: await chainTime(),
    },
  )
}

export function nonceOf(owner: Address): Promise<bigint> {
  return readContract(client, {
    address: token,
    abi: tokenAbi,
    functionName: 'nonces',
    args: [owner],
  })
}

export function allowanceOf(owner: Address): Promise<bigint> {
  return readContract(client, {
    address: token,
    abi: tokenAbi,
    functionName: 'allowance',
    args: [owner, spender],
  })
}

export type PermitAttempt = {
  from: Address
  to: Address
  permit: {
    token: Address
    payer: Address
    ceiling: bigint
    nonce: bigint
    deadline: bigint
  }
  amount: bigint
  signature: Hex
}

/** The capture of a permit by its operator. */
export function permitAttempt(
  payment: SignedPermitPayment,
  amount: bigint,
): PermitAttempt {
  const { domain, message, checkout, signature } = payment
  return {
    from: checkout.operator,
    to: message.to,
    permit: {
      token: domain.verifyingContract,
      payer: message.from,
      ceiling: message.value,
      nonce: hexToBigInt(message.nonce),
      deadline: message.validBefore - 1n,
    },
    amount,
    signature,
  }
}

/** Why the contract refuses a capture; `'accepted'` if it does not. */
export function permitRefusal(attempt: PermitAttempt): Promise<string> {
  const { from, to, permit, amount, signature } = attempt
  return reasonOf(
    simulateContract(client, {
      address: to,
      abi: permitCheckoutAbi,
      functionName: 'capture',
      args: [permit, amount, signature],
      account: from,
    }),
  )
}

/** Sends the capture, and returns its receipt. */
export function sendPermitCapture(
  { from, to, permit, amount, signature }: PermitAttempt,
  timestamp?: bigint,
) {
  const data = encodeFunctionData({
    abi: permitCheckoutAbi,
    functionName: 'capture',
    args: [permit, amount, signature],
  })
  return send(from, { to, data }, timestamp)
}

/** Submits the permit alone, as a stranger who saw it can. */
export async function submitPermit(
  payment: SignedPermitPayment,
): Promise<string> {
  const { message, signature } = payment
  const data = encodeFunctionData({
    abi: tokenAbi,
    functionName: 'permit',
    args: [
      message.from,
      message.to,
      message.value,
      message.validBefore - 1n,
      Number(`0x${signature.slice(130)}`),
      `0x${signature.slice(2, 66)}`,
      `0x${signature.slice(66, 130)}`,
    ],
  })
  const { status } = await send(newAddress(), {
    to: payment.domain.verifyingContract,
    data,
  })
  return status
}
