"""The C++ frames around an allocation, as real recordings have them.

Taken from shared recordings: allocations, workspaces, the autograd thread and zero_grad from
toy_mlp_short.pickle; released variables, AccumulateGrad and sums of gradients from
lm_fullstep_from_start.pickle and lm_fwd_bwd_ctx150.pickle; dropped graphs (deleteNode) from
cnn_counterfactuals_snapshot_events.pickle; the workspace of cuBLASLt from linear_grad_tiny.pkl.
A frame is (function, file); frames stand innermost first; arguments are shortened where readers
do not look at them.
"""

CACHE = "c10::cuda::CUDACachingAllocator::Native::"
TENSOR = "at::Tensor const&"
TENSORS = "std::vector<at::Tensor, std::allocator<at::Tensor> >"
UNKNOWN = "??"

GATHER = (
    ("torch::unwind::unwind()", UNKNOWN),
    ("torch::CapturedTraceback::gather(bool, bool, bool)", UNKNOWN),
    ("torch::cuda::(anonymous namespace)::gather_with_cpp()", "memory_snapshot.cpp"),
)
REQUEST = GATHER + (
    (CACHE + "DeviceCachingAllocator::malloc(signed char, unsigned long, CUstream_st*)",
     "CUDACachingAllocator.cpp"),
    (CACHE + "NativeCachingAllocator::malloc(void**, signed char, unsigned long, CUstream_st*)", ""),
    (CACHE + "NativeCachingAllocator::allocate(unsigned long)", ""),
)
EMPTY = (
    ("at::detail::empty_generic(c10::ArrayRef<long>, c10::Allocator*, c10::DispatchKeySet, "
     "c10::ScalarType, std::optional<c10::MemoryFormat>)", UNKNOWN),
    ("at::detail::empty_cuda(c10::ArrayRef<long>, c10::TensorOptions const&)", UNKNOWN),
)
RELEASE = GATHER + (
    (CACHE + "DeviceCachingAllocator::free(" + CACHE + "(anonymous namespace)::Block*)",
     "CUDACachingAllocator.cpp"),
    (CACHE + "local_raw_delete(void*)", ""),
    ("c10::StorageImpl::~StorageImpl()", ""),
    ("c10::intrusive_ptr<c10::StorageImpl, "
     "c10::detail::intrusive_target_default_null_type<c10::StorageImpl> >::reset_()", ""),
)
TENSOR_ENDS = (
    ("c10::TensorImpl::~TensorImpl()", UNKNOWN),
    ("c10::TensorImpl::~TensorImpl() [clone .localalias]", "TensorImpl.cpp"),
)
PYTHON_LETS_GO = (
    ("THPVariable_subclass_clear(THPVariable*)", UNKNOWN),
    ("THPVariable_subclass_dealloc(_object*)", UNKNOWN),
)
SET_GRAD = (("THPVariable_set_grad(THPVariable*, _object*, void*)", UNKNOWN),)
RESET_DATA = (("torch::autograd::SavedVariable::reset_data()", UNKNOWN),)
GRAPH_DROPPED = (
    ("torch::autograd::deleteNode(torch::autograd::Node*)", UNKNOWN),
    ("torch::autograd::AutogradMeta::~AutogradMeta()", UNKNOWN),
) + TENSOR_ENDS + PYTHON_LETS_GO
GRADIENTS_END = ((TENSORS + "::~vector()", UNKNOWN),)
SUM_OF_GRADIENTS = (
    ("torch::autograd::InputBuffer::accumulate(" + TENSORS + "&, unsigned long, at::Tensor&&)", UNKNOWN),
    ("torch::autograd::InputBuffer::add(unsigned long, at::Tensor&&)", UNKNOWN),
)
ACCUMULATE_GRAD = (
    ("torch::autograd::utils::clone_obey_contract(at::Tensor const&, at::Tensor const&)", UNKNOWN),
    ("torch::autograd::AccumulateGrad::apply(" + TENSORS + "&&)", UNKNOWN),
)
OPERATOR = (("torch::autograd::Node::operator()(" + TENSORS + "&&)", ""),)
# A gradient that was added to another in place, or cloned, ends here.
GRADIENT_ADDED = (("torch::autograd::AccumulateGrad::apply(" + TENSORS + "&&)", UNKNOWN),) + OPERATOR
# Gradients of what was broadcast are summed when a node has run.
REDUCE_GRAD = (
    ("torch::autograd::InputMetadata::reduce_grad(at::Tensor&) const", UNKNOWN),
    ("torch::autograd::InputMetadata::maybe_reduce(unsigned long, at::Tensor, "
     "std::function<std::string (std::string const&)> const&) const", UNKNOWN),
    ("torch::autograd::validate_outputs(std::vector<torch::autograd::Edge, std::allocator<torch::autograd::Edge> > "
     "const&, " + TENSORS + "&, std::function<std::string (std::string const&)> const&)", UNKNOWN),
)
ENGINE = (
    ("torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&, "
     "torch::autograd::Node*, torch::autograd::InputBuffer&, "
     "std::shared_ptr<torch::autograd::ReadyQueue> const&)", UNKNOWN),
    ("torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)", UNKNOWN),
    ("torch::autograd::Engine::thread_init(int, "
     "std::shared_ptr<torch::autograd::ReadyQueue> const&, bool)", UNKNOWN),
    ("torch::autograd::python::PythonEngine::thread_init(int, "
     "std::shared_ptr<torch::autograd::ReadyQueue> const&, bool)", UNKNOWN),
    ("execute_native_thread_routine", "thread.cc"),
    ("start_thread", UNKNOWN),
    ("__clone3", UNKNOWN),
)
MAIN_THREAD = (("PyEval_EvalCode", ""), ("Py_RunMain", ""), ("__libc_start_main", UNKNOWN))
NEW_WORKSPACE = (
    ("at::cuda::getNewWorkspace()", ""),
    ("at::cuda::getCurrentCUDABlasHandle()", UNKNOWN),
)
CUBLAS_WORKSPACE = NEW_WORKSPACE + (
    ("void at::cuda::blas::gemm_internal_cublas<float>(char, char, long, long, long, float, "
     "float const*, long, float const*, long, float, float*, long)", ""),
)
LT_WORKSPACE = (
    ("void at::cuda::blas::gemm_and_bias<float>(bool, bool, long, long, long, float, float const*, "
     "long, float const*, long, float const*, float*, long)", ""),
    ("at::native::(anonymous namespace)::addmm_out_cuda_impl(at::Tensor&, at::Tensor const&, "
     "at::Tensor const&, at::Tensor const&, c10::Scalar const&, c10::Scalar const&)", "Blas.cpp"),
)


def operator(name):
    """The frames of one operator of ATen."""
    return (("at::(anonymous namespace)::wrapper_CUDA_%s(%s)" % (name, TENSOR), "RegisterCUDA.cpp"),
            ("at::_ops::%s::call(%s)" % (name, TENSOR), UNKNOWN))


def binding(name):
    """Where Python enters C++."""
    return (("torch::autograd::THPVariable_%s(_object*, _object*, _object*)" % name,
             "python_torch_functions.cpp"),)


def node(name):
    """A node of the graph that runs."""
    if "AccumulateGrad" in name:
        return ACCUMULATE_GRAD + OPERATOR
    if name.endswith("Backward0"):
        name = "torch::autograd::generated::" + name
    return (("%s::apply(%s&&)" % (name, TENSORS), UNKNOWN),) + OPERATOR


def release_variables(name):
    """A node that lets go what it saved."""
    return RESET_DATA + (("torch::autograd::generated::%s::release_variables()" % name, UNKNOWN),)
