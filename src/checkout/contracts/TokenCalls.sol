// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IToken {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// What both checkout contracts do with a token.
abstract contract TokenCalls {
    /// Accepts a token that returns nothing, and reverts if it returns `false`.
    /// If the token reverts, reverts with the token's own error.
    function callToken(address token, bytes memory data) internal {
        (bool ok, bytes memory answer) = token.call(data);
        if (!ok) assembly ("memory-safe") { revert(add(answer, 32), mload(answer)) }
        require(answer.length == 0 || abi.decode(answer, (bool)), "Checkout: the token returned false");
    }

    function balanceHere(address token) internal view returns (uint256) {
        return IToken(token).balanceOf(address(this));
    }

    function checkCall(address operator, address token, uint256 amount, uint256 ceiling) internal view {
        require(msg.sender == operator, "Checkout: the caller is not the operator");
        require(amount > 0 && amount <= ceiling, "Checkout: the amount is 0 or above the ceiling");
        // A call to an address without code succeeds and moves nothing.
        require(token.code.length > 0, "Checkout: the token has no code");
    }

    function split(bytes calldata signature) internal pure returns (uint8 v, bytes32 r, bytes32 s) {
        return (uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
    }
}
