import { permitCheckoutDeployment } from 'countersign/checkout'
import { deployDevContract } from 'countersign/devchain'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import {
  mine,
  readContract,
  sendTransaction,
  waitForTransactionReceipt,
} from 'viem/actions'
import { expect, test } from 'vitest'
import { compileSolidity } from '../../chain/support/compileSolidity.js'
import {
  openPagesBrowser,
  openPagesDesk,
} from '../../chain/support/pagesDesk.js'
import { button } from '../../chain/support/shopPage.js'
import { addTestWallet } from '../../chain/support/shopPageWallet.js'

const { PermitToken } = compileSolidity(`
import "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

contract PermitToken is ERC20Permit {
    constructor() ERC20("Permit", "P") ERC20Permit("Permit") {}
    function mint(address to, uint256 value) external { _mint(to, value); }
    function decimals() public pure override returns (uint8) { return 6; }
}`)

const abi = parseAbi([
  'function mint(address to, uint256 value)',
  'function balanceOf(address account) view returns (uint256)',
])

/** A shop whose token has permits only, and a page with a funded wallet. */
async function openPermitPage() {
  if (!PermitToken) throw new Error('The token was not compiled.')
  const contract = PermitToken
  let token: Hex = '0x'
  const desk = await openPagesDesk({
    openToken: async (chain) => {
      const { merchant, relayer } = chain.clients
      const recipient = merchant.account.address
      await sendTransaction(relayer, permitCheckoutDeployment({ recipient }))
      token = await deployDevContract(chain, { contract })
      return token
    },
  })
  const browser = await openPagesBrowser()
  const account = await desk.buyer()
  const args = [account.address, 100_000_000n] as const
  const data = encodeFunctionData({ abi, functionName: 'mint', args })
  const { public: client, relayer } = desk.chain.clients
  const send = async (call: { to: Hex; data: Hex }) => {
    const hash = await sendTransaction(relayer, call)
    await waitForTransactionReceipt(client, { hash })
  }
  await send({ to: token, data })
  const { orderId, link } = await desk.draft({
    payer: account.address,
    amount: undefined,
    atMost: '50.00',
  })
  const page = await browser.open()
  const wallet = await addTestWallet(page, account.address)
  await page.goto(link)
  await button(page, 'Test wallet').click()
  await page.getByRole('button', { name: /^Sign payment of/ }).click()
  await wallet.isAsked()
  await wallet.sign(account)
  await page.getByRole('heading', { name: 'Payment authorized' }).waitFor()
  const balance = () =>
    readContract(client, {
      address: token,
      abi,
      functionName: 'balanceOf',
      args: [account.address],
    })
  const close = async () => {
    await browser.close()
    await desk.close()
  }
  return { desk, browser, page, wallet, account, orderId, send, balance, close }
}

test('a permit is signed as a maximum on the page, and what is charged arrives', async () => {
  const { desk, browser, page, orderId, balance, close } =
    await openPermitPage()
  const { orders } = desk
  expect(await orders.get({ orderId })).toMatchObject({
    kind: 'permitCheckout',
    state: 'stored',
  })
  await orders.capture({ orderId, amount: '42.10' })
  await page.getByRole('heading', { name: /^Paid/ }).waitFor()
  expect(await balance()).toBe(57_900_000n)
  expect(browser.takeProblems()).toEqual([])
  await close()
})

test('a permit is canceled on the page: the buyer signs a permit of zero and sends it, also after loading the page again', async () => {
  const opened = await openPermitPage()
  const { desk, browser, page, wallet, account, orderId, send } = opened
  await page.reload()
  await button(page, 'Cancel payment').click()
  await button(page, 'Test wallet').click()
  await wallet.isAsked()
  await wallet.sign(account)
  await page.getByRole('heading', { name: 'One step is left' }).waitFor()
  expect(await button(page, 'Cancel payment').count()).toBe(0)
  await button(page, 'Send cancellation').click()
  await page.getByText(/^Sent\./).waitFor()
  const sent = await wallet.sent()
  await page.reload()
  await page.getByText(/^Sent\./).waitFor()
  for (const again of ['Cancel payment', 'Send cancellation'])
    expect(await button(page, again).count()).toBe(0)
  await send(sent)
  await mine(desk.chain.clients.test, { blocks: 200 })
  await page.getByRole('heading', { name: 'Canceled', level: 1 }).waitFor()
  expect((await desk.orders.get({ orderId })).state).toBe('canceled')
  expect(await opened.balance()).toBe(100_000_000n)
  // Asking for the cancellation to sign says first that it is a permit.
  expect(browser.takeProblems().filter((one) => !/ 422 /.test(one))).toEqual([])
  await opened.close()
})
