import type { Abi, Hex } from 'viem'
import { compileSolidity } from './compileSolidity.js'

/** How an odd token behaves, by the number that the contract takes. */
export const oddities = [
  'behaves',
  'returns nothing from transfers',
  'returns false from transfers',
  'returns false from receiveWithAuthorization',
  'takes a fee of every transfer',
  'takes a fee of transfers from contracts only',
  'succeeds without a transfer',
  'calls its recipient back',
  'delivers less, and says it delivered all',
  'takes more than the value from contracts',
  'pays who moves the tokens of others',
] as const

export type Oddity = (typeof oddities)[number]

const source = `
contract OddToken {
    string public constant name = "Odd";
    string public constant version = "1";
    uint8 public constant decimals = 6;
    uint256 public oddity;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => uint256) public nonces;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;
    /// What it does in the middle of a transfer.
    address public target;
    bytes public call;
    bool public called;
    bytes public answer;
    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    constructor(uint256 number) {
        oddity = number;
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
            keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this)
        ));
    }

    function setOddity(uint256 number) external {
        oddity = number;
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function setCall(address target_, bytes calldata call_) external {
        (target, call) = (target_, call_);
    }

    function receiveWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s
    ) external {
        require(to == msg.sender, "caller must be the payee");
        require(block.timestamp > validAfter && block.timestamp < validBefore, "outside");
        if (authorizationState[from][nonce]) return;
        check(from, keccak256(abi.encode(
            0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8,
            from, to, value, validAfter, validBefore, nonce
        )), v, r, s);
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
        if (oddity == 3) assembly { mstore(0, 0) return(0, 32) }
    }

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
        require(block.timestamp <= deadline, "permit is expired");
        check(owner, keccak256(abi.encode(
            keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"),
            owner, spender, value, nonces[owner]++, deadline
        )), v, r, s);
        allowance[owner][spender] = value;
    }

    function check(address signer, bytes32 hash, uint8 v, bytes32 r, bytes32 s) private view {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), hash));
        require(ecrecover(digest, v, r, s) == signer, "invalid signature");
    }

    function transfer(address to, uint256 value) external {
        move(msg.sender, to, value);
        finish();
    }

    function transferFrom(address from, address to, uint256 value) external {
        allowance[from][msg.sender] -= value;
        if (oddity == 10) balanceOf[msg.sender] += 1;
        move(from, to, value);
        finish();
    }

    function finish() private view {
        uint256 how = oddity;
        if (how == 1) assembly { return(0, 0) }
        assembly {
            mstore(0, iszero(eq(how, 2)))
            return(0, 32)
        }
    }

    function move(address from, address to, uint256 value) private {
        if (oddity == 6) return;
        uint256 shown = value;
        balanceOf[from] -= value;
        if (oddity == 9 && from.code.length > 0) balanceOf[from] -= 1;
        if (oddity == 4 || (oddity == 5 && from.code.length > 0) || oddity == 8) value -= 1;
        balanceOf[to] += value;
        emit Transfer(from, to, oddity == 8 ? shown : value);
        if (oddity == 7 && target != address(0) && !called) {
            called = true;
            (bool ok, bytes memory data) = target.call(call);
            answer = ok ? bytes("accepted") : data;
        }
    }
}`

/** A token with EIP-3009 and EIP-2612 that can misbehave. */
export function compileOddToken(): { abi: Abi; bytecode: Hex } {
  const { OddToken } = compileSolidity(source)
  if (!OddToken) throw new Error('not compiled')
  return OddToken
}
