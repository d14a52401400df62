__all__=[]
class AssayMemory: pass
