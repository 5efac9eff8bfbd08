import { useSignPayment } from 'countersign/wagmi'
import { useConnection, useSwitchChain } from 'wagmi'
import { offer } from './offer.js'

type PayButtonProps = {
  order: { url: string; orderId: string; buyerToken: string }
  onPaid: () => void
}

export function PayButton({ order, onPaid }: PayButtonProps) {
  const { chainId } = useConnection()
  const { mutate: switchChain } = useSwitchChain()
  const { mutate, isPending, error } = useSignPayment({
    mutation: { onSuccess: onPaid },
  })

  if (chainId !== offer.chainId)
    return (
      <button
        type="button"
        onClick={() => switchChain({ chainId: offer.chainId })}
      >
        Switch network
      </button>
    )
  return (
    <>
      <button
        type="button"
        disabled={isPending}
        onClick={() => mutate({ ...order, expect: offer })}
      >
        {isPending ? 'Open your wallet to sign' : 'Authorize payment'}
      </button>
      {error && <p role="alert">{error.message}</p>}
    </>
  )
}
