// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Multicall} from "@openzeppelin/contracts/utils/Multicall.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ChannelConfig, ChannelTypes, ICollector, VoucherClaim} from "./ChannelTypes.sol";

/// A stand-in for x402's x402BatchSettlement, which no npm package carries,
/// written from its published interface and documentation. It has the same
/// messages, errors, events and order of checks.
contract ChannelsStandIn is ChannelTypes, Multicall, ReentrancyGuardTransient {
    struct Channel {
        uint128 balance;
        uint128 totalClaimed;
    }

    struct Withdrawal {
        uint128 amount;
        uint40 initiatedAt;
    }

    struct Account {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    event ChannelCreated(bytes32 indexed channelId, ChannelConfig config);
    event ChannelClosed(bytes32 indexed channelId, ChannelConfig config);
    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);
    event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount);
    event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter);
    event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount);

    error InvalidChannel();
    error InvalidCollector();
    error InvalidSignature();
    error InvalidRefundNonce();
    error ZeroDeposit();
    error ZeroRefund();
    error DepositOverflow();
    error DepositCollectionFailed();
    error EmptyBatch();
    error NotReceiverAuthorizer();
    error NotAuthorizedToClaim();
    error NotAuthorizedToRefund();
    error NotAuthorizedToFinalizeWithdraw();
    error ClaimExceedsCeiling();
    error ClaimExceedsBalance();
    error WithdrawDelayOutOfRange();
    error WithdrawDelayNotElapsed();
    error WithdrawalAlreadyPending();
    error WithdrawalNotPending();
    error WithdrawAmountExceedsAvailable();
    error NothingToWithdraw();

    uint40 public constant MIN_WITHDRAW_DELAY = 15 minutes;
    uint40 public constant MAX_WITHDRAW_DELAY = 30 days;

    mapping(bytes32 channelId => Channel) public channels;
    mapping(bytes32 channelId => Withdrawal) public pendingWithdrawals;
    mapping(bytes32 channelId => uint256) public refundNonce;
    mapping(address receiver => mapping(address token => Account)) public receivers;

    function deposit(ChannelConfig calldata config, uint128 amount, address collector, bytes calldata collectorData)
        external
        nonReentrant
    {
        checkConfig(config);
        if (amount == 0) revert ZeroDeposit();
        if (collector == address(0)) revert InvalidCollector();

        bytes32 id = getChannelId(config);
        Channel storage channel = channels[id];
        bool isNew = channel.balance == 0 && channel.totalClaimed == 0;
        if (uint256(channel.balance) + amount > type(uint128).max) revert DepositOverflow();
        uint128 newBalance = channel.balance + amount;
        channel.balance = newBalance;

        uint256 held = IERC20(config.token).balanceOf(address(this));
        ICollector(collector).collect(config.payer, config.token, amount, id, collectorData);
        if (IERC20(config.token).balanceOf(address(this)) != held + amount) revert DepositCollectionFailed();

        if (isNew) emit ChannelCreated(id, config);
        emit Deposited(id, msg.sender, amount, newBalance);
    }

    function claim(VoucherClaim[] calldata voucherClaims) external nonReentrant {
        if (voucherClaims.length == 0) revert EmptyBatch();
        for (uint256 i = 0; i < voucherClaims.length; i++) {
            if (!isReceiverSide(voucherClaims[i].voucher.channel)) revert NotAuthorizedToClaim();
            take(voucherClaims[i]);
        }
    }

    function claimWithSignature(VoucherClaim[] calldata voucherClaims, bytes calldata authorizerSignature)
        external
        nonReentrant
    {
        if (voucherClaims.length == 0) revert EmptyBatch();
        address authorizer = voucherClaims[0].voucher.channel.receiverAuthorizer;
        checkSignature(authorizer, getClaimBatchDigest(voucherClaims), authorizerSignature);
        for (uint256 i = 0; i < voucherClaims.length; i++) {
            if (voucherClaims[i].voucher.channel.receiverAuthorizer != authorizer) revert NotReceiverAuthorizer();
            take(voucherClaims[i]);
        }
    }

    function settle(address receiver, address token) external nonReentrant {
        Account storage account = receivers[receiver][token];
        uint128 due = account.totalClaimed - account.totalSettled;
        if (due == 0) return;
        account.totalSettled += due;
        SafeERC20.safeTransfer(IERC20(token), receiver, due);
        emit Settled(receiver, token, msg.sender, due);
    }

    function refund(ChannelConfig calldata config, uint128 amount) external nonReentrant {
        if (!isReceiverSide(config)) revert NotAuthorizedToRefund();
        giveBack(config, getChannelId(config), amount);
    }

    function refundWithSignature(
        ChannelConfig calldata config,
        uint128 amount,
        uint256 nonce,
        bytes calldata receiverAuthorizerSignature
    ) external nonReentrant {
        bytes32 id = getChannelId(config);
        if (refundNonce[id] != nonce) revert InvalidRefundNonce();
        checkSignature(config.receiverAuthorizer, getRefundDigest(id, nonce, amount), receiverAuthorizerSignature);
        giveBack(config, id, amount);
    }

    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external nonReentrant {
        if (!isPayerSide(config)) revert InvalidChannel();
        if (amount == 0) revert NothingToWithdraw();
        bytes32 id = getChannelId(config);
        if (pendingWithdrawals[id].initiatedAt != 0) revert WithdrawalAlreadyPending();
        if (amount > unclaimed(id)) revert WithdrawAmountExceedsAvailable();
        uint40 time = uint40(block.timestamp);
        pendingWithdrawals[id] = Withdrawal(amount, time);
        emit WithdrawInitiated(id, amount, time + config.withdrawDelay);
    }

    function finalizeWithdraw(ChannelConfig calldata config) external nonReentrant {
        if (!isPayerSide(config)) revert NotAuthorizedToFinalizeWithdraw();
        bytes32 id = getChannelId(config);
        Withdrawal memory pending = pendingWithdrawals[id];
        if (pending.initiatedAt == 0) revert WithdrawalNotPending();
        if (block.timestamp - pending.initiatedAt < config.withdrawDelay) revert WithdrawDelayNotElapsed();
        delete pendingWithdrawals[id];

        uint128 paid = atMost(pending.amount, unclaimed(id));
        channels[id].balance -= paid;
        emit WithdrawFinalized(id, msg.sender, paid);
        reportClosed(config, id);
        if (paid > 0) SafeERC20.safeTransfer(IERC20(config.token), config.payer, paid);
    }

    function take(VoucherClaim calldata row) private {
        ChannelConfig calldata config = row.voucher.channel;
        uint128 ceiling = row.voucher.maxClaimableAmount;
        bytes32 id = getChannelId(config);
        Channel memory channel = channels[id];
        if (row.totalClaimed <= channel.totalClaimed) return;
        if (row.totalClaimed > ceiling) revert ClaimExceedsCeiling();
        if (row.totalClaimed > channel.balance) revert ClaimExceedsBalance();
        checkVoucher(config, getVoucherDigest(id, ceiling), row.signature);

        uint128 added = row.totalClaimed - channel.totalClaimed;
        channels[id].totalClaimed = row.totalClaimed;
        receivers[config.receiver][config.token].totalClaimed += added;
        emit Claimed(id, msg.sender, added, row.totalClaimed);
    }

    function giveBack(ChannelConfig calldata config, bytes32 id, uint128 amount) private {
        if (amount == 0) revert ZeroRefund();
        refundNonce[id]++;
        uint128 paid = atMost(amount, unclaimed(id));
        if (paid == 0) return;

        channels[id].balance -= paid;
        Withdrawal storage pending = pendingWithdrawals[id];
        if (paid < pending.amount) pending.amount -= paid;
        else delete pendingWithdrawals[id];
        emit Refunded(id, msg.sender, paid);
        reportClosed(config, id);
        SafeERC20.safeTransfer(IERC20(config.token), config.payer, paid);
    }

    /// An authorizer signs by key alone; a payer without one may be a contract.
    function checkVoucher(ChannelConfig calldata config, bytes32 digest, bytes calldata signature) private view {
        if (config.payerAuthorizer == address(0)) checkSignature(config.payer, digest, signature);
        else if (ECDSA.recoverCalldata(digest, signature) != config.payerAuthorizer) revert InvalidSignature();
    }

    function checkSignature(address signer, bytes32 digest, bytes calldata signature) private view {
        if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) revert InvalidSignature();
    }

    function checkConfig(ChannelConfig calldata config) private pure {
        bool isComplete = config.payer != address(0) && config.receiver != address(0)
            && config.receiverAuthorizer != address(0) && config.token != address(0);
        if (!isComplete) revert InvalidChannel();
        uint40 delay = config.withdrawDelay;
        if (delay < MIN_WITHDRAW_DELAY || delay > MAX_WITHDRAW_DELAY) revert WithdrawDelayOutOfRange();
    }

    function reportClosed(ChannelConfig calldata config, bytes32 id) private {
        Channel memory channel = channels[id];
        if (channel.balance == 0 && channel.totalClaimed == 0) emit ChannelClosed(id, config);
    }

    function unclaimed(bytes32 id) private view returns (uint128) {
        return channels[id].balance - channels[id].totalClaimed;
    }

    function isPayerSide(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.payer || msg.sender == config.payerAuthorizer;
    }

    function isReceiverSide(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.receiver || msg.sender == config.receiverAuthorizer;
    }

    function atMost(uint128 wanted, uint128 most) private pure returns (uint128) {
        return wanted < most ? wanted : most;
    }
}
