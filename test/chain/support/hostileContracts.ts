import type { Abi, Hex } from 'viem'
import { compileSolidity } from './compileSolidity.js'

/** How a hostile token settles, in the order of the contract's numbers. */
export const tokenTricks = [
  'settles as it should',
  'succeeds and does nothing',
  'moves half of the value',
  'pays another account',
  'tells of a transfer it did not make',
  'has another contract tell of the transfer',
  'returns a huge answer',
  'reverts with a huge answer',
  'reverts with a huge reason',
  'burns all gas',
  'calls its recipient',
  'lies in its balances and its events alike',
] as const

/** How a hostile wallet judges a signature, by the contract's numbers. */
export const walletTricks = [
  'agrees',
  'agrees in an answer with more behind the word',
  'agrees in an answer that is too short',
  'agrees with something else in the word',
  'returns a huge answer',
  'reverts with a huge answer',
  'burns all gas',
  'runs out of gas in a loop',
  'answers nothing',
  'agrees only in a rehearsal',
  'agrees only while there is plenty of gas',
] as const

const source = `
contract HostileToken {
    string public constant name = "USD Coin";
    string public constant version = "2";
    uint8 public constant decimals = 6;
    uint256 public immutable trick;
    bool private lying;
    Herald private immutable herald = new Herald();
    mapping(address => uint256) private balances;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;
    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    constructor(uint256 number) {
        trick = number;
    }

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
            keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this)
        ));
    }

    function mint(address to, uint256 value) external {
        balances[to] += value;
        emit Transfer(address(0), to, value);
    }

    function balanceOf(address account) external view returns (uint256) {
        return balances[account] + (lying ? 1250000 : 0);
    }

    function receiveWithAuthorization(
        address from, address to, uint256 value, uint256, uint256, bytes32 nonce, uint8, bytes32, bytes32
    ) external {
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        if (trick == 6) bomb(false);
        if (trick == 7) bomb(true);
        if (trick == 8) revert(string(new bytes(100000)));
        if (trick == 9) assembly { invalid() }
        if (trick == 1) return;
        if (trick == 5) {
            herald.tell(from, to, value, nonce);
            return;
        }
        require(!authorizationState[from][nonce], "FiatTokenV2: authorization is used or canceled");
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        if (trick == 2) value /= 2;
        if (trick == 3) to = address(this);
        if (trick == 10) {
            bytes memory list = abi.encodePacked(hex"01", address(this), uint32(50000), uint24(0));
            (bool ok,) = to.call(list);
            require(ok || to.code.length > 0);
        }
        if (trick == 11) lying = true;
        if (trick != 4 && trick != 11) {
            balances[from] -= value;
            balances[to] += value;
        }
        emit Transfer(from, to, value);
    }

    function bomb(bool fails) private pure {
        assembly {
            switch fails
            case 0 { return(0, 350000) }
            default { revert(0, 350000) }
        }
    }
}

contract Herald {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    function tell(address from, address to, uint256 value, bytes32 nonce) external {
        emit AuthorizationUsed(from, nonce);
        emit Transfer(from, to, value);
    }
}

/// Makes several calls in one transaction, so that their logs share a receipt.
contract Batch {
    function run(address[] calldata targets, bytes[] calldata calls) external {
        for (uint256 i; i < targets.length; i++) {
            (bool ok,) = targets[i].call(calls[i]);
            require(ok, "a call failed");
        }
    }
}

contract HostileWallet {
    uint256 private immutable trick;
    address private immutable merchant;

    constructor(uint256 number, address recipient) {
        trick = number;
        merchant = recipient;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 how = trick;
        bytes32 magic = bytes32(bytes4(0x1626ba7e));
        assembly {
            mstore(0, magic)
            mstore(32, not(0))
            switch how
            case 1 { return(0, 64) }
            case 2 { return(0, 4) }
            case 3 {
                mstore8(31, 1)
                return(0, 32)
            }
            case 4 { return(0, 250000) }
            case 5 { revert(0, 250000) }
            case 6 { invalid() }
            case 7 { for {} 1 {} {} }
            case 8 { return(0, 0) }
        }
        if (how == 9 && merchant.code.length == 0) return 0xffffffff;
        if (how == 10 && gasleft() < 150000) return 0xffffffff;
        return 0x1626ba7e;
    }
}`

type Contract = { abi: Abi; bytecode: Hex }

export function compileHostile(): Record<
  'token' | 'wallet' | 'herald' | 'batch',
  Contract
> {
  const {
    HostileToken: token,
    HostileWallet: wallet,
    Herald: herald,
    Batch: batch,
  } = compileSolidity(source)
  if (!token || !wallet || !herald || !batch) throw new Error('not compiled')
  return { token, wallet, herald, batch }
}
