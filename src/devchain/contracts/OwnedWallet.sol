// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC1271_MAGIC, isErc1271Signature, recoverAnyForm} from "./Signatures.sol";

/// A substitute for the wallet of Base Account. It has several owners, and each
/// may make it call anything. Owners sign a hash that contains the wallet's
/// address, so that no signature is valid at another wallet of the same owner. It
/// supports no passkeys and no ERC-4337 entry point.
contract OwnedWallet {
    struct SignatureWrapper {
        uint256 ownerIndex;
        bytes signatureData;
    }

    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    event AddOwner(uint256 indexed index, bytes owner);
    event RemoveOwner(uint256 indexed index, bytes owner);

    error Initialized();
    error Unauthorized();
    error AlreadyOwner(bytes owner);
    error NoOwnerAtIndex(uint256 index);
    error WrongOwnerAtIndex(uint256 index, bytes expectedOwner, bytes actualOwner);
    error InvalidOwnerBytesLength(bytes owner);
    error InvalidEthereumAddressOwner(bytes owner);
    error LastOwner();
    error UpgradeFailed();

    /// keccak256("eip1967.proxy.implementation") - 1
    bytes32 private constant IMPLEMENTATION_SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant MESSAGE_TYPEHASH = keccak256("CoinbaseSmartWalletMessage(bytes32 hash)");

    mapping(uint256 => bytes) private owners;
    mapping(bytes => bool) private known;
    uint256 public nextOwnerIndex;
    uint256 public removedOwnersCount;

    modifier onlyOwner() {
        if (msg.sender != address(this) && !isOwnerAddress(msg.sender)) revert Unauthorized();
        _;
    }

    receive() external payable {}

    function initialize(bytes[] calldata initial) external payable {
        if (nextOwnerIndex != 0) revert Initialized();
        for (uint256 index = 0; index < initial.length; index++) {
            checkOwner(initial[index]);
            add(initial[index]);
        }
    }

    function execute(address target, uint256 value, bytes calldata data) external payable onlyOwner {
        run(target, value, data);
    }

    function executeBatch(Call[] calldata calls) external payable onlyOwner {
        for (uint256 index = 0; index < calls.length; index++) {
            run(calls[index].target, calls[index].value, calls[index].data);
        }
    }

    function addOwnerAddress(address owner) external onlyOwner {
        add(abi.encode(owner));
    }

    function removeOwnerAtIndex(uint256 index, bytes calldata owner) external onlyOwner {
        if (nextOwnerIndex - removedOwnersCount == 1) revert LastOwner();
        bytes memory found = owners[index];
        if (found.length == 0) revert NoOwnerAtIndex(index);
        if (keccak256(found) != keccak256(owner)) revert WrongOwnerAtIndex(index, owner, found);
        delete known[owner];
        delete owners[index];
        removedOwnersCount++;
        emit RemoveOwner(index, owner);
    }

    /// Replaces the implementation that the proxy calls.
    function upgradeToAndCall(address target, bytes calldata data) external payable onlyOwner {
        if (target.code.length == 0) revert UpgradeFailed();
        assembly {
            sstore(IMPLEMENTATION_SLOT, target)
        }
        if (data.length > 0) {
            (bool ok,) = target.delegatecall(data);
            if (!ok) revert UpgradeFailed();
        }
    }

    function implementation() external view returns (address current) {
        assembly {
            current := sload(IMPLEMENTATION_SLOT)
        }
    }

    function isOwnerAddress(address account) public view returns (bool) {
        return known[abi.encode(account)];
    }

    function isOwnerBytes(bytes calldata account) external view returns (bool) {
        return known[account];
    }

    function ownerAtIndex(uint256 index) external view returns (bytes memory) {
        return owners[index];
    }

    function ownerCount() external view returns (uint256) {
        return nextOwnerIndex - removedOwnersCount;
    }

    function replaySafeHash(bytes32 hash) public view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN_TYPEHASH, keccak256("Coinbase Smart Wallet"), keccak256("1"), block.chainid, address(this))
        );
        return keccak256(abi.encodePacked(hex"1901", domain, keccak256(abi.encode(MESSAGE_TYPEHASH, hash))));
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        SignatureWrapper memory wrapper = abi.decode(signature, (SignatureWrapper));
        bytes memory owner = owners[wrapper.ownerIndex];
        if (owner.length != 32) revert InvalidOwnerBytesLength(owner);
        address signer = abi.decode(owner, (address));
        bytes32 digest = replaySafeHash(hash);
        bool ok = signer.code.length > 0
            ? isErc1271Signature(signer, digest, wrapper.signatureData)
            : recoverAnyForm(digest, wrapper.signatureData) == signer;
        return ok ? ERC1271_MAGIC : bytes4(0xffffffff);
    }

    function checkOwner(bytes calldata owner) private pure {
        if (owner.length != 32 && owner.length != 64) revert InvalidOwnerBytesLength(owner);
        if (owner.length == 32 && uint256(bytes32(owner)) > type(uint160).max) {
            revert InvalidEthereumAddressOwner(owner);
        }
    }

    function add(bytes memory owner) private {
        if (known[owner]) revert AlreadyOwner(owner);
        uint256 index = nextOwnerIndex++;
        known[owner] = true;
        owners[index] = owner;
        emit AddOwner(index, owner);
    }

    function run(address target, uint256 value, bytes calldata data) private {
        (bool ok, bytes memory answer) = target.call{value: value}(data);
        if (ok) return;
        assembly {
            revert(add(answer, 0x20), mload(answer))
        }
    }
}
