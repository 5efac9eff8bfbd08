import { permitCheckoutDeployment } from 'countersign/checkout'
import { deployDevContract } from 'countersign/devchain'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import {
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

test('a permit is signed as a maximum on the page, and what is charged arrives', async () => {
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
  const { chain, orders } = desk
  const account = await desk.buyer()
  const args = [account.address, 100_000_000n] as const
  const data = encodeFunctionData({ abi, functionName: 'mint', args })
  const { public: client, relayer } = chain.clients
  const hash = await sendTransaction(relayer, { to: token, data })
  await waitForTransactionReceipt(client, { hash })
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
  expect(await orders.get({ orderId })).toMatchObject({
    kind: 'permitCheckout',
    state: 'stored',
  })
  await orders.capture({ orderId, amount: '42.10' })
  await page.getByRole('heading', { name: /^Paid/ }).waitFor()
  const left = await readContract(client, {
    address: token,
    abi,
    functionName: 'balanceOf',
    args: [account.address],
  })
  expect(left).toBe(57_900_000n)
  expect(browser.takeProblems()).toEqual([])
  await browser.close()
  await desk.close()
})
