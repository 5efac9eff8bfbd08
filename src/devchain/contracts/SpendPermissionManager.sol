// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {PublicERC6492Validator} from "./PublicERC6492Validator.sol";

interface IWallet {
    function execute(address target, uint256 value, bytes calldata data) external payable;
}

/// A substitute for Base Account's manager of spend permissions, written from its
/// published interface and documentation. It has the same messages, errors, events
/// and order of checks, for ERC-20 tokens. It supports no batches, no native
/// currency and no MagicSpend.
contract SpendPermissionManager {
    struct SpendPermission {
        address account;
        address spender;
        address token;
        uint160 allowance;
        uint48 period;
        uint48 start;
        uint48 end;
        uint256 salt;
        bytes extraData;
    }

    struct PeriodSpend {
        uint48 start;
        uint48 end;
        uint160 spend;
    }

    event SpendPermissionApproved(bytes32 indexed hash, SpendPermission spendPermission);
    event SpendPermissionRevoked(bytes32 indexed hash, SpendPermission spendPermission);
    event SpendPermissionUsed(
        bytes32 indexed hash, address indexed account, address indexed spender, address token, PeriodSpend periodSpend
    );

    error InvalidSender(address sender, address expected);
    error ERC721TokenNotSupported(address token);
    error InvalidSignature();
    error ZeroToken();
    error ZeroSpender();
    error ZeroAllowance();
    error ZeroPeriod();
    error InvalidStartEnd(uint48 start, uint48 end);
    error ZeroValue();
    error UnauthorizedSpendPermission();
    error BeforeSpendPermissionStart(uint48 currentTimestamp, uint48 start);
    error AfterSpendPermissionEnd(uint48 currentTimestamp, uint48 end);
    error SpendValueOverflow(uint256 value);
    error ExceededSpendPermission(uint256 value, uint256 allowance);
    error SafeERC20FailedOperation(address token);

    PublicERC6492Validator public constant PUBLIC_ERC6492_VALIDATOR =
        PublicERC6492Validator(0xcfCE48B757601F3f351CB6f434CB0517aEEE293D);

    bytes32 public constant SPEND_PERMISSION_TYPEHASH = keccak256(
        "SpendPermission(address account,address spender,address token,uint160 allowance,uint48 period,uint48 start,uint48 end,uint256 salt,bytes extraData)"
    );

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    mapping(bytes32 => bool) private approvals;
    mapping(bytes32 => bool) private revocations;
    mapping(bytes32 => PeriodSpend) private periods;

    modifier only(address expected) {
        if (msg.sender != expected) revert InvalidSender(msg.sender, expected);
        _;
    }

    function approve(SpendPermission memory spendPermission) external only(spendPermission.account) returns (bool) {
        return record(spendPermission);
    }

    function approveWithSignature(SpendPermission memory spendPermission, bytes calldata signature)
        external
        returns (bool)
    {
        bytes32 digest = getHash(spendPermission);
        if (!PUBLIC_ERC6492_VALIDATOR.isValidSignatureNowAllowSideEffects(spendPermission.account, digest, signature)) {
            revert InvalidSignature();
        }
        return record(spendPermission);
    }

    function revoke(SpendPermission memory spendPermission) external only(spendPermission.account) {
        end(spendPermission);
    }

    function revokeAsSpender(SpendPermission memory spendPermission) external only(spendPermission.spender) {
        end(spendPermission);
    }

    function spend(SpendPermission memory spendPermission, uint160 value) external only(spendPermission.spender) {
        use(spendPermission, value);
        pull(spendPermission.token, spendPermission.account, spendPermission.spender, value);
    }

    function isApproved(SpendPermission memory spendPermission) external view returns (bool) {
        return approvals[getHash(spendPermission)];
    }

    function isRevoked(SpendPermission memory spendPermission) external view returns (bool) {
        return revocations[getHash(spendPermission)];
    }

    function isValid(SpendPermission memory spendPermission) public view returns (bool) {
        bytes32 key = getHash(spendPermission);
        return approvals[key] && !revocations[key];
    }

    function getLastUpdatedPeriod(SpendPermission memory spendPermission) external view returns (PeriodSpend memory) {
        return periods[getHash(spendPermission)];
    }

    /// Returns the period of the block's time. Periods follow each other from
    /// `start` without gaps. The last one ends when the permission ends.
    function getCurrentPeriod(SpendPermission memory spendPermission) public view returns (PeriodSpend memory) {
        uint48 time = uint48(block.timestamp);
        if (time < spendPermission.start) revert BeforeSpendPermissionStart(time, spendPermission.start);
        if (time >= spendPermission.end) revert AfterSpendPermissionEnd(time, spendPermission.end);

        PeriodSpend memory last = periods[getHash(spendPermission)];
        if (last.spend > 0 && time < last.end) return last;

        uint256 passed = (time - spendPermission.start) / spendPermission.period;
        uint256 begin = spendPermission.start + passed * spendPermission.period;
        uint256 finish = begin + spendPermission.period;
        if (finish > spendPermission.end) finish = spendPermission.end;
        return PeriodSpend(uint48(begin), uint48(finish), 0);
    }

    function getHash(SpendPermission memory spendPermission) public view returns (bytes32) {
        bytes32 body = keccak256(
            abi.encode(
                SPEND_PERMISSION_TYPEHASH,
                spendPermission.account,
                spendPermission.spender,
                spendPermission.token,
                spendPermission.allowance,
                spendPermission.period,
                spendPermission.start,
                spendPermission.end,
                spendPermission.salt,
                keccak256(spendPermission.extraData)
            )
        );
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPEHASH, keccak256("Spend Permission Manager"), keccak256("1"), block.chainid, address(this)
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, body));
    }

    /// Approves a permission. A revoked one cannot be approved again: the call
    /// returns false and does not revert.
    function record(SpendPermission memory one) private returns (bool) {
        if (one.token == address(0)) revert ZeroToken();
        if (isNft(one.token)) revert ERC721TokenNotSupported(one.token);
        if (one.spender == address(0)) revert ZeroSpender();
        if (one.period == 0) revert ZeroPeriod();
        if (one.allowance == 0) revert ZeroAllowance();
        if (one.start >= one.end) revert InvalidStartEnd(one.start, one.end);

        bytes32 key = getHash(one);
        if (revocations[key]) return false;
        if (!approvals[key]) {
            approvals[key] = true;
            emit SpendPermissionApproved(key, one);
        }
        return true;
    }

    function end(SpendPermission memory one) private {
        bytes32 key = getHash(one);
        if (revocations[key]) return;
        revocations[key] = true;
        emit SpendPermissionRevoked(key, one);
    }

    function use(SpendPermission memory one, uint256 value) private {
        if (value == 0) revert ZeroValue();
        if (!isValid(one)) revert UnauthorizedSpendPermission();
        PeriodSpend memory current = getCurrentPeriod(one);
        uint256 total = current.spend + value;
        if (total > type(uint160).max) revert SpendValueOverflow(total);
        if (total > one.allowance) revert ExceededSpendPermission(total, one.allowance);

        bytes32 key = getHash(one);
        current.spend = uint160(total);
        periods[key] = current;
        emit SpendPermissionUsed(
            key, one.account, one.spender, one.token, PeriodSpend(current.start, current.end, uint160(value))
        );
    }

    /// Moves tokens from the wallet to the spender. Makes the wallet approve exactly
    /// this value to this contract first.
    function pull(address token, address account, address spender, uint256 value) private {
        IWallet(account).execute(token, 0, abi.encodeWithSignature("approve(address,uint256)", address(this), value));
        (bool ok, bytes memory answer) =
            token.call(abi.encodeWithSignature("transferFrom(address,address,uint256)", account, spender, value));
        if (!ok) {
            assembly {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        // A call to an address without code succeeds without moving anything, so an
        // empty answer counts only if the token has code.
        bool isMoved = answer.length == 0 ? token.code.length > 0 : abi.decode(answer, (bool));
        if (!isMoved) revert SafeERC20FailedOperation(token);
    }

    function isNft(address token) private view returns (bool) {
        (bool ok, bytes memory answer) =
            token.staticcall{gas: 30_000}(abi.encodeWithSignature("supportsInterface(bytes4)", bytes4(0x80ac58cd)));
        return ok && answer.length >= 32 && abi.decode(answer, (uint256)) == 1;
    }
}
