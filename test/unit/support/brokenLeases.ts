import type { Lease, LeaseHolder } from 'countersign/store'
import { type BrokenStore, inStore } from './spoilStore.js'

/** Stores whose leases or fences are wrong. */
export const brokenLeases: readonly BrokenStore[] = [
  {
    defect: 'each owner has a lease of its own',
    make: inStore((store) => ({
      takeLease: async (wanted) => {
        const key = `${wanted.key} ${wanted.owner}`
        const lease = await store.takeLease({ ...wanted, key })
        return lease && { ...lease, key: wanted.key }
      },
    })),
    fails: [
      'a lease is for one owner, who prolongs it under the same fence',
      'of many owners who ask at once, one gets the lease',
      'a lease that has run out goes to the next owner, not earlier, under a higher fence',
    ],
  },
  {
    defect: 'all fences are one',
    make: inStore((store) => ({
      takeLease: async (wanted) => {
        const lease = await store.takeLease(wanted)
        return lease && { ...lease, fence: 1n }
      },
      write: (work) => store.write(work),
    })),
    fails: [
      'a lease that has run out goes to the next owner, not earlier, under a higher fence',
      'an owner whose lease had run out gets a higher fence too',
      'fences keep rising after a process ends and another starts',
    ],
  },
  {
    defect: 'leases run out early',
    make: inStore((store) => ({
      takeLease: ({ milliseconds, ...wanted }) =>
        store.takeLease({ ...wanted, milliseconds: milliseconds / 4 }),
    })),
    fails: [
      'a lease that has run out goes to the next owner, not earlier, under a higher fence',
    ],
  },
  {
    defect: 'a lease that is held is not prolonged',
    make: () => {
      const taken = new Map<string, Lease>()
      return inStore((store) => ({
        takeLease: async (wanted) => {
          const name = `${wanted.key} ${wanted.owner}`
          const lease = taken.get(name) ?? (await store.takeLease(wanted))
          if (lease) taken.set(name, lease)
          return lease
        },
      }))()
    },
    fails: [
      'a prolonged lease lasts its full time from the moment it was prolonged',
    ],
  },
  {
    defect: 'the fence rises when a lease is prolonged',
    make: () => {
      const taken = new Map<string, Lease>()
      return inStore((store) => ({
        takeLease: async (wanted) => {
          const held = taken.get(`${wanted.key} ${wanted.owner}`)
          if (held) await store.releaseLease(held)
          const lease = await store.takeLease(wanted)
          if (lease) taken.set(`${wanted.key} ${wanted.owner}`, lease)
          return lease
        },
      }))()
    },
    fails: [
      'a lease is for one owner, who prolongs it under the same fence',
      'a write under a lease that is held is kept',
    ],
  },
  {
    defect: 'the lease of a write is not looked at',
    make: inStore((store) => ({ write: (work) => store.write(work) })),
    fails: [
      'a write under a lease that someone else has is refused',
      'a released lease is free at once, under a higher fence',
    ],
  },
  {
    defect: 'anyone gives back a lease',
    make: () => {
      const taken = new Map<string, Lease>()
      return inStore((store) => ({
        takeLease: async (wanted) => {
          const lease = await store.takeLease(wanted)
          if (lease) taken.set(wanted.key, lease)
          return lease
        },
        releaseLease: (lease) =>
          store.releaseLease(taken.get(lease.key) ?? lease),
      }))()
    },
    fails: ['only its holder can release a lease'],
  },
  {
    defect: 'a lease is never given back',
    make: inStore(() => ({ releaseLease: async () => undefined })),
    fails: ['a released lease is free at once, under a higher fence'],
  },
  {
    defect: 'fences begin again once a lease is given back',
    make: () => {
      const taken = new Map<string, Lease>()
      const given = new Map<string, bigint>()
      return inStore((store) => ({
        takeLease: async (wanted) => {
          const lease = await store.takeLease(wanted)
          if (!lease) return undefined
          const before = taken.get(lease.key)
          const isNew = before?.fence !== lease.fence
          const fence = (given.get(lease.key) ?? 0n) + (isNew ? 1n : 0n)
          taken.set(lease.key, lease)
          given.set(lease.key, fence)
          return { ...lease, fence }
        },
        releaseLease: async (lease) => {
          if (given.get(lease.key) !== lease.fence) return
          given.delete(lease.key)
          await store.releaseLease(taken.get(lease.key) ?? lease)
        },
        write: (work, { lease } = {}) => {
          const held = lease && taken.get(lease.key)
          const isHeld =
            held?.owner === lease?.owner &&
            lease?.fence === given.get(lease?.key ?? '')
          return store.write(work, { lease: isHeld ? held : lease })
        },
      }))()
    },
    fails: ['no fence is given twice, not even to the owner who released it'],
  },
  {
    defect: 'who held a lease last is said to hold it',
    make: () => {
      const taken = new Map<string, LeaseHolder>()
      return inStore((store) => ({
        takeLease: async (wanted) => {
          const lease = await store.takeLease(wanted)
          const until = BigInt(Date.now() + wanted.milliseconds)
          if (lease) taken.set(lease.key, { owner: lease.owner, until })
          return lease
        },
        read: (work) =>
          store.read((it) =>
            work({ ...it, getLease: async (key) => taken.get(key) }),
          ),
      }))()
    },
    fails: [
      'the holder of a lease can be read, and until when, as long as it is held',
      'a lease that has run out has no holder',
    ],
  },
]
