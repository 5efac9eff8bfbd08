import { type DevChain, deployDevContract } from 'countersign/devchain'
import { type Address, type Hex, parseAbi } from 'viem'
import { writeContractSync } from 'viem/actions'
import { compileSolidity } from './compileSolidity.js'

const extensions = '@openzeppelin/contracts/token/ERC20/extensions'

const tokenSource = (name: string, base: string) => `
contract ${name} is ${base} {
    constructor() ERC20("${name}", "OZ") EIP712("${name}", "1") {}
    function mint(address to, uint256 value) external { _mint(to, value); }
    function decimals() public pure override returns (uint8) { return 6; }
}`

/** The extensions of OpenZeppelin's package, each with the least around it. */
const compiled = compileSolidity(`
import "${extensions}/draft-ERC3009.sol";
import "${extensions}/ERC20TransferAuthorization.sol";
import "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
${tokenSource('PlainNonces', 'ERC3009')}
${tokenSource('KeyedNonces', 'ERC20TransferAuthorization')}
`)

/** `KeyedNonces` takes a nonce as a key of 24 bytes and a sequence of 8. */
export type OzToken = 'PlainNonces' | 'KeyedNonces'

export function deployOzToken(
  chain: DevChain,
  name: OzToken,
): Promise<Address> {
  const contract = compiled[name]
  if (!contract) throw new Error(`${name} was not compiled`)
  return deployDevContract(chain, { contract })
}

/** Gives tokens to an account, and mines. */
export async function mintOz(
  { clients }: DevChain,
  token: Address,
  to: Address,
  value: bigint,
): Promise<void> {
  await writeContractSync(clients.relayer, {
    address: token,
    abi: parseAbi(['function mint(address to, uint256 value)']),
    functionName: 'mint',
    args: [to, value],
    gas: 200_000n,
  })
}

/** A nonce with a sequence, for a key of its own. */
export const sequenceOf = (nonce: Hex, at: number): Hex =>
  `${nonce.slice(0, 50)}${at.toString(16).padStart(16, '0')}` as Hex
