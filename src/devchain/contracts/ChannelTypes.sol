// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// What a channel is: its id is the EIP-712 hash of this in the contract's domain.
struct ChannelConfig {
    address payer;
    address payerAuthorizer;
    address receiver;
    address receiverAuthorizer;
    address token;
    uint40 withdrawDelay;
    bytes32 salt;
}

struct Voucher {
    ChannelConfig channel;
    uint128 maxClaimableAmount;
}

struct VoucherClaim {
    Voucher voucher;
    bytes signature;
    uint128 totalClaimed;
}

interface ICollector {
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata collectorData)
        external;
}

/// The typed data of channels. The domain is computed at each use, because a
/// development chain sets the code without running a constructor.
abstract contract ChannelTypes {
    bytes32 public constant CHANNEL_CONFIG_TYPEHASH = keccak256(
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
    );
    bytes32 private constant VOUCHER = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");
    bytes32 private constant REFUND = keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)");
    bytes32 private constant CLAIM_ENTRY =
        keccak256("ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)");
    bytes32 private constant CLAIM_BATCH = keccak256(
        "ClaimBatch(ClaimEntry[] claims)ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
    );
    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    string private constant NAME = "x402 Batch Settlement";
    string private constant VERSION = "1";

    /// ERC-5267.
    function eip712Domain()
        external
        view
        returns (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        )
    {
        return (hex"0f", NAME, VERSION, block.chainid, address(this), 0, new uint256[](0));
    }

    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return typedHash(abi.encode(CHANNEL_CONFIG_TYPEHASH, config));
    }

    function getVoucherDigest(bytes32 channelId, uint128 maxClaimableAmount) public view returns (bytes32) {
        return typedHash(abi.encode(VOUCHER, channelId, maxClaimableAmount));
    }

    function getRefundDigest(bytes32 channelId, uint256 nonce, uint128 amount) public view returns (bytes32) {
        return typedHash(abi.encode(REFUND, channelId, nonce, amount));
    }

    function getClaimBatchDigest(VoucherClaim[] calldata voucherClaims) public view returns (bytes32) {
        bytes memory entries;
        for (uint256 i = 0; i < voucherClaims.length; i++) {
            VoucherClaim calldata row = voucherClaims[i];
            bytes32 id = getChannelId(row.voucher.channel);
            bytes memory entry = abi.encode(CLAIM_ENTRY, id, row.voucher.maxClaimableAmount, row.totalClaimed);
            entries = bytes.concat(entries, keccak256(entry));
        }
        return typedHash(abi.encode(CLAIM_BATCH, keccak256(entries)));
    }

    function typedHash(bytes memory message) private view returns (bytes32) {
        bytes32 separator = keccak256(
            abi.encode(DOMAIN, keccak256(bytes(NAME)), keccak256(bytes(VERSION)), block.chainid, address(this))
        );
        return keccak256(bytes.concat(hex"1901", separator, keccak256(message)));
    }
}
