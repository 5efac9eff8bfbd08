// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {OwnedWallet} from "./OwnedWallet.sol";

/// A substitute for the factory of Base Account's wallets. It deploys the same
/// proxy with the same salt, so wallets have the addresses that they have on Base.
contract OwnedWalletFactory {
    event AccountCreated(address indexed account, bytes[] owners, uint256 nonce);

    error OwnerRequired();

    address public constant implementation = 0x00000110dCdEdC9581cb5eCB8467282f2926534d;

    function createAccount(bytes[] calldata owners, uint256 nonce) external payable returns (address account) {
        if (owners.length == 0) revert OwnerRequired();
        account = getAddress(owners, nonce);
        if (account.code.length > 0) return account;

        bytes memory code = initCode();
        bytes32 salt = saltOf(owners, nonce);
        address created;
        assembly {
            created := create2(0, add(code, 0x20), mload(code), salt)
        }
        require(created == account);
        emit AccountCreated(account, owners, nonce);
        OwnedWallet(payable(account)).initialize{value: msg.value}(owners);
    }

    function getAddress(bytes[] calldata owners, uint256 nonce) public view returns (address) {
        bytes32 digest =
            keccak256(abi.encodePacked(hex"ff", address(this), saltOf(owners, nonce), keccak256(initCode())));
        return address(uint160(uint256(digest)));
    }

    function initCodeHash() external pure returns (bytes32) {
        return keccak256(initCode());
    }

    function saltOf(bytes[] calldata owners, uint256 nonce) private pure returns (bytes32) {
        return keccak256(abi.encode(owners, nonce));
    }

    /// Returns the creation code of a minimal proxy, which keeps the address of its
    /// implementation in the storage slot of ERC-1967.
    function initCode() private pure returns (bytes memory) {
        return abi.encodePacked(
            hex"603d3d8160223d3973",
            implementation,
            hex"60095155f3",
            hex"363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3"
        );
    }
}
