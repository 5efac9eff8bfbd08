import type { Address } from 'viem'
import type { ProofRecord, TransactionRecord } from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import {
  drawAddress,
  drawDestination,
  drawHash,
  drawId,
  drawSubmitter,
  sampleAttempt,
  sampleOrder,
  sampleProof,
  sampleTransaction,
} from './samples.js'
import { expectRows, expectSame, useStore } from './tools.js'

export const ledgerQueryCases: readonly StoreCase[] = [
  {
    name: 'attempts are found by their orders and by their nonces',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [one, two] = [
          sampleOrder(drawDestination()),
          sampleOrder(drawDestination()),
        ]
        const rows = [
          sampleAttempt(one, { number: 1 }),
          sampleAttempt(one, { number: 2 }),
          sampleAttempt(two),
        ]
        await store.write(async (it) => {
          await it.orders.insert([one, two])
          await it.attempts.insert(rows)
        })
        const [first, second, third] = rows.map(({ nonce }) => nonce)
        const ofOrders = (...orderIds: string[]) =>
          store.read(async (it) =>
            (await it.attempts.find({ orderIds })).map(({ nonce }) => nonce),
          )
        expectRows('Of one', await ofOrders(one.id), [first, second])
        const both = await ofOrders(one.id, two.id, drawId())
        expectRows('Of both', both, [first, second, third])
        expectSame('Of none', await ofOrders(), [])
        const nonces = [second, third, drawHash()].flatMap((it) => it ?? [])
        const found = await store.read((it) => it.attempts.find({ nonces }))
        const seen = found.map(({ nonce }) => nonce)
        expectRows('By nonces', seen, [second, third])
        const none = await store.read((it) => it.attempts.find({ nonces: [] }))
        expectSame('By no nonces', none, [])
      }),
  },
  {
    name: 'the spendable attempts of a payer are found by chain and token',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const { chainId, token } = drawDestination()
        const payer = drawAddress()
        const attempt = (facts: {
          chainId?: number
          token?: Address
          payer?: Address | undefined
          spendable?: boolean
        }) =>
          sampleAttempt(sampleOrder(drawDestination({ chainId, token })), {
            payer,
            spendable: true,
            ...facts,
          })
        const owed = [attempt({}), attempt({})]
        await store.write((it) =>
          it.attempts.insert([
            ...owed,
            attempt({ spendable: false }),
            attempt({ payer: drawAddress() }),
            attempt({ payer: undefined }),
            attempt({ token: drawAddress() }),
            attempt({ chainId: chainId + 1 }),
          ]),
        )
        const exposure = { chainId, token, payer }
        const found = await store.read((it) => it.attempts.find({ exposure }))
        const nonces = found.map(({ nonce }) => nonce)
        expectRows(
          'Owed',
          nonces,
          owed.map(({ nonce }) => nonce),
        )
      }),
  },
  {
    name: 'a transaction that carries several orders is found by each of them, once',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const submitter = drawSubmitter()
        const ids = [drawId(), drawId(), drawId()]
        const carry = (some: readonly string[]) => ({
          movements: some.map((orderId, at) => ({ orderId, attempt: at + 1 })),
        })
        const all = sampleTransaction(submitter, carry(ids))
        const second = { ...carry(ids.slice(1)), bump: 1 }
        const fewer = sampleTransaction(submitter, second)
        await store.write((it) => it.transactions.insert([all, fewer]))
        const find = (orderIds: readonly string[]) =>
          store.read(({ transactions }) => transactions.find({ orderIds }))
        const [first = '', other = '', last = ''] = ids
        expectRows('Transactions of the first order', await find([first]), [
          { ...all, version: 1 },
        ])
        for (const some of [[other], [last], ids, [last, first]])
          expectRows(
            'Transactions of some of the orders',
            await find(some),
            [all, fewer].map((row) => ({ ...row, version: 1 })),
          )
        const closed = { ...all, version: 1, inFlight: false }
        await store.write(({ transactions }) => transactions.update([closed]))
        expectRows(
          'The closed transaction of the first order',
          await find([first]),
          [{ ...closed, version: 2 }],
        )
      }),
  },
  {
    name: 'transactions are found by their orders and by their hashes on a chain',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const submitter = drawSubmitter()
        const far = drawSubmitter({ chainId: submitter.chainId + 1 })
        const [hash, other, orderId] = [drawHash(), drawHash(), drawId()]
        const movements = [{ orderId, attempt: 1 }]
        const rows = [
          sampleTransaction(submitter, { hash, movements }),
          sampleTransaction(submitter, { nonce: 1, hash: other, movements }),
          sampleTransaction(submitter, { nonce: 2 }),
          sampleTransaction(far, {
            hash,
            movements: [{ orderId: drawId(), attempt: 1 }],
          }),
        ]
        await store.write((it) => it.transactions.insert(rows))
        const show = (found: readonly TransactionRecord[]) =>
          found.map(({ chainId, nonce }) => [chainId, nonce])
        const { chainId } = submitter
        const [ofOrder, byHash, byNone, ofNone] = await store.read(
          async ({ transactions }) => [
            show(await transactions.find({ orderIds: [orderId, drawId()] })),
            show(
              await transactions.find({ hashes: [hash, drawHash()], chainId }),
            ),
            show(await transactions.find({ hashes: [], chainId })),
            show(await transactions.find({ orderIds: [] })),
          ],
        )
        expectRows('Of the order', ofOrder ?? [], [
          [chainId, 0],
          [chainId, 1],
        ])
        expectSame('By hash', byHash, [[chainId, 0]])
        expectSame('By none', [byNone, ofNone], [[], []])
      }),
  },
  {
    name: 'transactions of a submitter in flight come in the order of their nonces',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const submitter = drawSubmitter()
        const rows = [
          sampleTransaction(submitter, { nonce: 10 }),
          sampleTransaction(submitter, { nonce: 9 }),
          sampleTransaction(submitter, { nonce: 9, bump: 1 }),
          sampleTransaction(submitter, { nonce: 100, inFlight: false }),
          sampleTransaction(submitter, { nonce: 2 }),
          sampleTransaction(drawSubmitter(), { nonce: 3 }),
          sampleTransaction({ ...submitter, chainId: submitter.chainId + 1 }),
        ]
        await store.write((it) => it.transactions.insert(rows))
        const find = () =>
          store.read((it) => it.transactions.find({ inFlight: submitter }))
        const nonces = (await find()).map(({ nonce }) => nonce)
        expectSame('Nonces', nonces, [2, 9, 9, 10])
        const closed = (await find())
          .filter(({ nonce }) => nonce === 9)
          .map((row) => ({ ...row, inFlight: false }))
        await store.write((it) => it.transactions.update(closed))
        const rest = (await find()).map(({ nonce }) => nonce)
        expectSame('Without the closed ones', rest, [2, 10])
      }),
  },
  {
    name: 'all transactions at one nonce of a submitter are found, in flight or not',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const submitter = drawSubmitter()
        const rows = [
          sampleTransaction(submitter, { nonce: 5, bump: 0 }),
          sampleTransaction(submitter, { nonce: 5, bump: 1, inFlight: false }),
          sampleTransaction(submitter, { nonce: 6 }),
          sampleTransaction(drawSubmitter(), { nonce: 5 }),
          sampleTransaction(
            { ...submitter, chainId: submitter.chainId + 1 },
            { nonce: 5 },
          ),
        ]
        await store.write((it) => it.transactions.insert(rows))
        const found = await store.read((it) =>
          it.transactions.find({ at: submitter, nonce: 5 }),
        )
        const expected = rows.slice(0, 2).map((row) => ({ ...row, version: 1 }))
        expectRows('At the nonce', found, expected)
      }),
  },
  {
    name: 'the transactions of a submitter come from a nonce on, in pages',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const submitter = drawSubmitter()
        const rows = [
          sampleTransaction(submitter, { nonce: 10 }),
          sampleTransaction(submitter, { nonce: 9, inFlight: false }),
          sampleTransaction(submitter, { nonce: 9, bump: 1 }),
          sampleTransaction(submitter, { nonce: 100, inFlight: false }),
          sampleTransaction(submitter, { nonce: 2 }),
          sampleTransaction(drawSubmitter(), { nonce: 9 }),
          sampleTransaction(
            { ...submitter, chainId: submitter.chainId + 1 },
            { nonce: 9 },
          ),
        ]
        await store.write((it) => it.transactions.insert(rows))
        const find = (fromNonce: number, limit: number) =>
          store.read(async ({ transactions }) =>
            (
              await transactions.find({ sentBy: submitter, fromNonce, limit })
            ).map(({ nonce, bump }) => [nonce, bump]),
          )
        const all = [
          [2, 0],
          [9, 0],
          [9, 1],
          [10, 0],
          [100, 0],
        ]
        expectSame('All', await find(0, 9), all)
        expectSame('From 9', await find(9, 9), all.slice(1))
        expectSame('From 3', await find(3, 9), all.slice(1))
        expectSame('Two from 9', await find(9, 2), all.slice(1, 3))
        expectSame('From 101', await find(101, 9), [])
      }),
  },
  {
    name: 'proofs are found by their orders and by their hashes on a chain',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const far = drawDestination({ chainId: destination.chainId + 1 })
        const [transactionHash, orderId] = [drawHash(), drawId()]
        const rows = [
          sampleProof(destination, { transactionHash, orderId }),
          sampleProof(drawDestination(), { transactionHash, logIndex: 1 }),
          sampleProof(far, { transactionHash, removed: true }),
          sampleProof(destination, { orderId, removed: true }),
        ]
        await store.write((it) => it.proofs.insert(rows))
        const show = (found: readonly ProofRecord[]) =>
          found.map((row) =>
            rows.findIndex((it) => it.blockHash === row.blockHash),
          )
        const { chainId } = destination
        const hashes = [transactionHash, drawHash()]
        const [ofOrder, byHash, byNone, ofNone] = await store.read(
          async ({ proofs }) => [
            show(await proofs.find({ orderIds: [orderId, drawId()] })),
            show(await proofs.find({ hashes, chainId })),
            show(await proofs.find({ hashes: [], chainId })),
            show(await proofs.find({ orderIds: [] })),
          ],
        )
        expectRows('Of the order', ofOrder ?? [], [0, 3])
        expectRows('By hash', byHash ?? [], [0, 1])
        expectSame('By none', [byNone, ofNone], [[], []])
      }),
  },
  {
    name: 'proofs come in the order of the chain, from a block on',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const places = [
          [10n, 0],
          [9n, 10],
          [9n, 9],
          [100n, 1],
          [2n, 7],
        ] as const
        const rows = places.map(([blockNumber, logIndex]) =>
          sampleProof(destination, { blockNumber, logIndex }),
        )
        await store.write((it) => it.proofs.insert(rows))
        const find = (facts: object) =>
          store.read(async ({ proofs }) =>
            (
              await proofs.find({
                destinations: [destination],
                limit: 9,
                ...facts,
              })
            ).map(({ blockNumber, logIndex }) => [blockNumber, logIndex]),
          )
        const all = [places[4], places[2], places[1], places[0], places[3]]
        expectSame('All', await find({}), all)
        expectSame('From 9', await find({ fromBlock: 9n }), all.slice(1))
        expectSame('Three', await find({ limit: 3 }), all.slice(0, 3))
        const few = { fromBlock: 10n, limit: 1 }
        expectSame('One from 10', await find(few), [places[0]])
      }),
  },
]
